/** The way from a node to its origins: reads, and what passes through, go by one client, and its log hears of what fails there. */
import type { FaultLog } from '../log.ts';
import type { NodeDriver } from '../node/node-driver.ts';
import { WriteNotice } from '../node/write-notice.ts';
import { Fetcher } from '../origin/fetcher.ts';
import { OriginClient } from '../origin/origin-client.ts';
import type { OriginFailure } from '../origin/origin-failure.ts';
import type { ForwardPort } from '../passthrough/forward.ts';
import { OriginForward } from '../passthrough/origin-forward.ts';
import type { NodeOrigins } from './node-origins.ts';

export interface NodeS3 {
  readonly client: OriginClient;
  /** For requests that aren't reads. */
  readonly forward: ForwardPort;
}

/** Lets the driver fetch from whatever the origins are at the time. */
export function connectToS3(faults: FaultLog, origins: NodeOrigins, driver: NodeDriver): NodeS3 {
  const failed = ({ code, hint }: OriginFailure, bucket: string): void => {
    faults.warn(`origin-${code}-${bucket}`, 'the origin gave no whole answer', {
      bucket,
      code,
      hint,
    });
  };
  const client = new OriginClient((origin, aheadMs) => {
    const seconds = Math.round(Math.abs(aheadMs) / 1000);
    const side = aheadMs > 0 ? 'ahead of' : 'behind';
    faults.warn(
      `clock ${origin}`,
      `the clock of ${origin} is ${seconds} s ${side} this machine's: requests to it are signed for its time; set this machine's clock`,
      { origin, aheadMs },
    );
  });
  driver.fetcher = new Fetcher(client, () => origins.current, driver, failed);
  const toOrigin = new OriginForward(
    client,
    () => origins.current,
    (failure, { bucket }) => {
      failed(failure, bucket);
    },
  );
  return { client, forward: new WriteNotice(toOrigin, driver) };
}

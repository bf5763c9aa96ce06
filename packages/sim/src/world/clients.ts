/**
 * Clients: each sends one request after another through its gateway, now with one credential and now with another, until the
 * run has had its number. Grants are asked before anything else, with the program's own table.
 */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { s3Errors } from '@s3-accelerator/core/s3/errors.ts';
import type { Operation } from 's3-accelerator/auth/operation.ts';
import { authorize, authorizeKeys, GrantSet } from 's3-accelerator/auth/grants.ts';
import type { WriteOperation } from '../history/client-write.ts';
import type { BucketOptions } from '../options.ts';
import type { GatewayHost } from './gateway-host.ts';
import type { GatewayRun } from './gateway-run.ts';
import type { OriginWrites } from './origin-writes.ts';
import { PassedWrite } from './passed-write.ts';
import type { Surroundings } from './surroundings.ts';
import { credentials, type Workload } from './workload.ts';
import type { WriteRequest } from './write-request.ts';

export interface ClientsOptions {
  readonly world: Surroundings;
  readonly gateways: readonly GatewayHost[];
  readonly workload: Workload;
  readonly writes: OriginWrites;
  readonly buckets: readonly BucketOptions[];
  readonly requests: number;
}

/** How long a client whose gateway is down waits before it tries again. */
const retryMs = 20;

const operations: Readonly<Record<WriteOperation, Operation>> = {
  put: 'PutObject',
  copy: 'CopyObject',
  complete: 'CompleteMultipartUpload',
  delete: 'DeleteObject',
  'multi-delete': 'DeleteObjects',
};

export class Clients {
  readonly #options: ClientsOptions;
  readonly #grants = credentials.map(({ grants }) => new GrantSet(grants));
  #sent = 0;

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  /** Requests that clients have sent. */
  get sent(): number {
    return this.#sent;
  }

  /** Lets a client of a gateway begin. */
  add(client: number, gateway: GatewayHost): void {
    this.#think(client, gateway);
  }

  #think(client: number, gateway: GatewayHost): void {
    const { world, workload } = this.#options;
    world.queue.in(workload.thinkMs() + 0.01, () => {
      this.#act(client, gateway);
    });
  }

  #act(client: number, gateway: GatewayHost): void {
    const { world, workload, requests } = this.#options;
    if (this.#sent >= requests) return;
    const { run } = gateway;
    if (run === null) {
      world.queue.in(retryMs, () => {
        this.#act(client, gateway);
      });
      return;
    }
    const onEnd = (): void => {
      this.#think(client, gateway);
    };
    const credential = workload.credential();
    if (!workload.isWrite()) {
      this.#sent += 1;
      this.#read(client, credential, run, onEnd);
    } else if (workload.isBehind()) {
      if (workload.writeBehind(world.queue.now)) world.situations.arose('write behind the cache');
      onEnd();
    } else {
      this.#sent += 1;
      this.#write(client, credential, run, onEnd);
    }
  }

  #read(client: number, credential: number, run: GatewayRun, onEnd: () => void): void {
    const { world, workload, buckets } = this.#options;
    const { request, passes, stallMs, leaveMs } = workload.read();
    const { bucket, key, head } = request;
    const record = world.history.answerStarted({
      client,
      credential,
      gateway: run.gatewayId,
      gatewayLife: run.life,
      request,
      staleMs: staleMsOf(buckets, bucket),
      startedAt: world.queue.now,
    });
    const operation = head ? 'HeadObject' : 'GetObject';
    const wanted = { operation, resource: { bucket, key }, prefix: '', copySource: null } as const;
    const refusal = authorize(this.#grants[credential]!, wanted);
    if (stallMs > 0) world.situations.arose('client stalled');
    const exchange = run.read(record, { refusal, passes, stallMs }, onEnd);
    if (leaveMs === Infinity) return;
    world.queue.in(leaveMs, () => {
      run.leave(exchange);
    });
  }

  #write(client: number, credential: number, gateway: GatewayRun, onEnd: () => void): void {
    const { world, workload, writes } = this.#options;
    const request = workload.write();
    const { operation, bucket, keys, source } = request;
    const { now } = world.queue;
    const record = world.history.writeStarted({
      client,
      credential,
      gateway: gateway.gatewayId,
      gatewayLife: gateway.life,
      operation,
      bucket,
      keys,
      source,
      startedAt: now,
    });
    const end = (): void => {
      world.checkers.writeEnded(record);
      onEnd();
    };
    const refusal = this.#refusalOf(credential, request);
    if (refusal !== null) {
      record.outcome = 'denied';
      record.status = s3Errors[refusal].status;
      record.code = refusal;
      record.endedAt = now;
      world.situations.arose('request denied');
      if (operation === 'copy') world.situations.arose('copy denied for its source');
      end();
      return;
    }
    const uploadMs = request.object === null ? 0 : workload.uploadMs();
    const pass = new PassedWrite({ world, gateway, writes, record, request, uploadMs, onEnd: end });
    const leaveMs = workload.writeLeaveMs();
    pass.start();
    if (leaveMs === Infinity) return;
    world.queue.in(leaveMs, () => {
      pass.clientGone();
    });
  }

  #refusalOf(credential: number, request: WriteRequest): ErrorCode | null {
    const { operation, bucket, keys, source } = request;
    const grants = this.#grants[credential]!;
    const isMany = operation === 'multi-delete';
    const refusal = authorize(grants, {
      operation: operations[operation],
      resource: { bucket, key: isMany ? '' : keys[0]! },
      prefix: '',
      copySource: source === null ? null : { ...source, versionId: null },
    });
    if (refusal !== null || !isMany) return refusal;
    return authorizeKeys(grants, bucket, keys);
  }
}

/** How old an answer from the bucket may be. */
function staleMsOf(buckets: readonly BucketOptions[], name: string): number {
  const bucket = buckets.find((other) => other.name === name)!;
  return bucket.immutable ? Infinity : bucket.ttlMs;
}

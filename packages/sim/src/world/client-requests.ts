/**
 * One request of a client, as its gateway takes it: grants are asked before anything else, with the program's own table, and
 * what the client sees of it goes into the history.
 */
import { s3Errors, type ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { authorize, authorizeKeys, GrantSet } from 's3-accelerator/auth/grants.ts';
import type { Operation } from 's3-accelerator/auth/operation.ts';
import type { WriteOperation } from '../history/client-write.ts';
import type { BucketOptions } from '../options.ts';
import type { S3Read } from '../oracle/request.ts';
import type { Exchange, GatewayRun } from './gateway-run.ts';
import type { OriginWrites } from './origin-writes.ts';
import { PassedWrite } from './passed-write.ts';
import type { Surroundings } from './surroundings.ts';
import { credentials } from './workload.ts';
import type { WriteRequest } from './write-request.ts';

/** Who sends it, and through which gateway. */
export interface Sender {
  readonly client: number;
  /** Index in the history's credentials. */
  readonly credential: number;
  readonly gateway: GatewayRun;
}

/** A read, and what its client does with the answer. */
export interface SentRead {
  readonly request: S3Read;
  /** It holds something that the cache doesn't understand. */
  readonly passes: boolean;
  /** How long the client doesn't read when it should, in milliseconds. */
  readonly stallMs: number;
}

export interface ClientRequestsOptions {
  readonly world: Surroundings;
  readonly writes: OriginWrites;
  readonly buckets: readonly BucketOptions[];
}

const operations: Readonly<Record<WriteOperation, Operation>> = {
  put: 'PutObject',
  copy: 'CopyObject',
  complete: 'CompleteMultipartUpload',
  delete: 'DeleteObject',
  'multi-delete': 'DeleteObjects',
};

export class ClientRequests {
  readonly #options: ClientRequestsOptions;
  readonly #grants = credentials.map(({ grants }) => new GrantSet(grants));

  constructor(options: ClientRequestsOptions) {
    this.#options = options;
  }

  /** Sends a read. `onEnd` is called when its answer ended, in whichever way. */
  read(sender: Sender, read: SentRead, onEnd: () => void): Exchange {
    const { world, buckets } = this.#options;
    const { client, credential, gateway } = sender;
    const { request, passes, stallMs } = read;
    const { bucket, key, head } = request;
    const record = world.history.answerStarted({
      client,
      credential,
      gateway: gateway.gatewayId,
      gatewayLife: gateway.life,
      request,
      staleMs: staleMsOf(buckets, bucket),
      startedAt: world.queue.now,
    });
    const refusal = authorize(this.#grants[credential]!, {
      operation: head ? 'HeadObject' : 'GetObject',
      resource: { bucket, key },
      prefix: '',
      copySource: null,
    });
    return gateway.read(record, { refusal, passes, stallMs }, onEnd);
  }

  /**
   * Sends a write whose body takes `uploadMs`. `onEnd` is called when the client heard of it. Returns what the client can leave;
   * null when its grants forbid it.
   */
  write(
    sender: Sender,
    request: WriteRequest,
    uploadMs: number,
    onEnd: () => void,
  ): PassedWrite | null {
    const { world, writes } = this.#options;
    const { client, credential, gateway } = sender;
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
      return null;
    }
    const pass = new PassedWrite({ world, gateway, writes, record, request, uploadMs, onEnd: end });
    pass.start();
    return pass;
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

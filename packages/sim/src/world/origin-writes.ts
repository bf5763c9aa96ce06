/** Writes as S3 makes them, and what goes wrong with them. */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { ClientWrite } from '../history/client-write.ts';
import type { Oracle, WriteAnswer } from '../oracle/oracle.ts';
import type { EventQueue } from './event-queue.ts';
import type { WriteRequest } from './write-request.ts';

/** made and refused: made, and answered with an error of S3's. refused: not made. late: made long after it was refused. */
export type WriteFault = 'none' | 'made and refused' | 'refused' | 'late';

const faults = ['made and refused', 'refused', 'late'] as const;

export class OriginWrites {
  /** Of a hundred writes, how many go wrong. */
  faultPercent: number;
  readonly #queue: EventQueue;
  readonly #oracle: Oracle;
  readonly #prng: Prng;

  constructor(queue: EventQueue, oracle: Oracle, prng: Prng, faultPercent: number) {
    this.#queue = queue;
    this.#oracle = oracle;
    this.#prng = prng;
    this.faultPercent = faultPercent;
  }

  drawFault(): WriteFault {
    if (this.faultPercent === 0 || this.#prng.below(100) >= this.faultPercent) return 'none';
    return this.#prng.pick(faults);
  }

  /** Takes effect now; what it made goes into the client's record. */
  make(request: WriteRequest, record: ClientWrite): WriteAnswer {
    const { operation, bucket, keys, source, object, conditions } = request;
    const { now } = this.#queue;
    const key = keys[0]!;
    if (operation === 'multi-delete') {
      record.versions.push(...this.#oracle.deleteAll(now, bucket, keys, record.id));
      return { status: 200, code: '', version: null };
    }
    const answer = ((): WriteAnswer => {
      switch (operation) {
        case 'put':
          assert(object !== null, 'a put stores something');
          return this.#oracle.put(now, bucket, key, object, record.id, conditions);
        case 'complete':
          assert(object !== null, 'an upload stores something');
          return this.#oracle.complete(now, bucket, key, object, record.id, conditions);
        case 'copy':
          assert(source !== null, 'a copy has a source');
          return this.#oracle.copy(now, bucket, key, source.bucket, source.key, record.id);
        case 'delete':
          return this.#oracle.delete(now, bucket, key, record.id);
      }
    })();
    if (answer.version !== null) record.versions.push(answer.version);
    return answer;
  }
}

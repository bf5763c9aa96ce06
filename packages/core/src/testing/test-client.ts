/** A client's request at the test gateway, and everything it got. */
import { assert } from '../base/assert.ts';
import type { ExchangeId } from '../gateway/effects.ts';
import type { ObjectMetadata, OriginError } from '../read.ts';
import type { RangeRequest } from '../s3/byte-range.ts';
import type { ErrorCode } from '../s3/errors.ts';
import { noPreconditions, type Preconditions } from '../s3/preconditions.ts';

export interface TestRequest {
  readonly bucket: string;
  readonly key: string;
  readonly head: boolean;
  readonly range: RangeRequest;
  readonly conditions: Preconditions;
}

export function requestOf(key: string, change: Partial<TestRequest> = {}): TestRequest {
  return {
    bucket: 'b',
    key,
    head: false,
    range: { kind: 'none', first: 0, last: 0 },
    conditions: noPreconditions,
    ...change,
  };
}

export class TestClient {
  readonly exchange: ExchangeId;
  readonly request: TestRequest;
  readonly startedAt: number;
  endedAt = Infinity;
  /** open, or how it ended. */
  end: 'open' | 'finished' | 'aborted' | 'error' | 'originError' | 'passThrough' | 'gone' = 'open';
  status = 0;
  metadata: ObjectMetadata | null = null;
  first = 0;
  length = 0;
  code: ErrorCode | null = null;
  originError: OriginError | null = null;
  /** A client that doesn't read: what is queued isn't taken. */
  isStalled = false;
  waitsForTaken = false;
  readonly #parts: Uint8Array[] = [];
  #received = 0;

  constructor(exchange: ExchangeId, request: TestRequest, startedAt: number) {
    this.exchange = exchange;
    this.request = request;
    this.startedAt = startedAt;
  }

  get received(): number {
    return this.#received;
  }

  get isOpen(): boolean {
    return this.end === 'open';
  }

  append(bytes: Uint8Array): void {
    assert(this.status === 200 || this.status === 206, 'a body follows its head');
    assert(!this.request.head, 'HEAD has no body');
    this.#parts.push(bytes);
    this.#received += bytes.length;
    assert(this.#received <= this.length, 'no more bytes than the head promised');
  }

  body(): Uint8Array {
    const body = new Uint8Array(this.#received);
    let at = 0;
    for (const part of this.#parts) {
      body.set(part, at);
      at += part.length;
    }
    return body;
  }
}

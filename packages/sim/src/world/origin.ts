/**
 * S3 as processes meet it: the oracle's answers at the moment that a request takes effect, and everything that goes wrong on
 * the way to one. Errors carry the number of the request that they belong to, as S3's do.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { FetchHead } from '@s3-accelerator/core/node/effects.ts';
import type { OriginError } from '@s3-accelerator/core/read.ts';
import type { History } from '../history/history.ts';
import type { OriginRequest } from '../history/origin-request.ts';
import { fillContent } from '../oracle/content.ts';
import { nameOf, type Oracle, type S3Answer } from '../oracle/oracle.ts';
import { noConditions, type S3Read } from '../oracle/request.ts';
import type { Version } from '../oracle/version.ts';
import type { Situations } from '../situations.ts';
import type { EventQueue } from './event-queue.ts';

/** As in the history's answers. */
export interface Told {
  readonly etag: string;
  readonly size: number;
  readonly lastModified: number;
  readonly first: number;
  readonly length: number;
}

/** What S3 sends for a read. */
export interface OriginAnswer {
  /** Null when there is no answer at all. */
  readonly head: FetchHead | null;
  /** What its headers say to a client: weak ETags and a HEAD's length too. Null unless S3 speaks of a version. */
  readonly told: Told | null;
  /** The body: bytes of the object's content. */
  readonly body: Uint8Array;
  /** It ends before all that the head promised. */
  readonly breaksOff: boolean;
}

/** What goes wrong with a read. Those up to `empty` hurt whoever asks; the others are answers that no proper S3 gives. */
type ReadFault =
  | 'none'
  | 'unreachable'
  | 'internal error'
  | 'slow down'
  | 'short'
  | 'empty'
  | 'ignores range'
  | 'ignores if-match'
  | 'wrong range'
  | 'unknown length';

const plainFaults = ['unreachable', 'internal error', 'slow down', 'short', 'empty'] as const;
const allFaults = [
  ...plainFaults,
  'ignores range',
  'ignores if-match',
  'wrong range',
  'unknown length',
] as const;

const noBytes = new Uint8Array(0);
/** What S3 sends with an error, but to a HEAD. */
const errorDocument = new TextEncoder().encode('<Error/>');
const idHeader = 'x-amz-request-id: ';

export interface OriginOptions {
  readonly queue: EventQueue;
  readonly prng: Prng;
  readonly oracle: Oracle;
  readonly history: History;
  readonly situations: Situations;
  readonly originMs: number;
}

export class Origin {
  readonly oracle: Oracle;
  /** Of a hundred requests, how many go wrong. */
  faultPercent: number;
  /** What goes wrong with the next requests, one each, before anything is drawn: for stories. */
  readonly nextFaults: ReadFault[] = [];
  readonly #options: OriginOptions;
  readonly #contents = new Map<string, Uint8Array>();

  constructor(options: OriginOptions, faultPercent: number) {
    this.#options = options;
    this.oracle = options.oracle;
    this.faultPercent = faultPercent;
  }

  /** What a step at S3 takes, or a message to it. */
  delayMs(): number {
    const { prng, originMs } = this.#options;
    return originMs * 2 * prng.fraction();
  }

  /** S3 reads the request: what it answers is decided now, whatever happens to the object until it arrives. */
  decide(record: OriginRequest): OriginAnswer {
    const { now } = this.#options.queue;
    const fault = this.#drawFault(record.kind === 'fetch');
    record.decidedAt = now;
    record.isFaulty = fault !== 'none';
    if (fault !== 'none') this.#noteFault(record, fault);
    if (fault === 'unreachable') {
      record.end = 'unreachable';
      record.endedAt = now;
      return { head: null, told: null, body: noBytes, breaksOff: false };
    }
    if (fault === 'internal error') return this.#refusal(record, 500, 'InternalError');
    if (fault === 'slow down') return this.#refusal(record, 503, 'SlowDown');
    const request = misread(record.request, fault);
    const answer = this.oracle.answer(request);
    if (answer.code !== '') {
      const refusal = this.#refusal(record, answer.status, answer.code);
      // Where a range is beyond the end, S3 tells where that is.
      return answer.status === 416 ? { ...refusal, told: toldOf(answer, '') } : refusal;
    }
    record.status = answer.status;
    return this.#object(record, answer, fault);
  }

  #object(record: OriginRequest, answer: S3Answer, fault: ReadFault): OriginAnswer {
    const { version, status } = answer;
    let { first, length } = answer;
    if (fault === 'wrong range' && status === 206 && first > 0) first -= 1;
    const head: FetchHead = {
      status,
      etag: version.etag.startsWith('W/') ? '' : version.etag,
      size: version.size,
      first,
      length,
      lastModified: version.lastModified,
      headerLines: noBytes,
      error: null,
    };
    const told = toldOf(answer, version.etag);
    if (record.request.head || status === 304) {
      head.first = 0;
      head.length = 0;
      return { head, told, body: noBytes, breaksOff: false };
    }
    if (fault === 'unknown length') {
      head.size = -1;
      head.length = -1;
    }
    const promised = length;
    if (fault === 'short') length = this.#options.prng.below(Math.max(1, length));
    if (fault === 'empty') length = 0;
    const body = this.#contentOf(version).subarray(first, first + length);
    return { head, told, body, breaksOff: length < promised };
  }

  #refusal(record: OriginRequest, status: number, code: string): OriginAnswer {
    record.status = status;
    record.code = code;
    const hasDocument = !record.request.head;
    const error: OriginError = {
      status,
      code: hasDocument ? code : '',
      headerLines: new TextEncoder().encode(`${idHeader}${record.id}\r\n`),
      body: hasDocument ? errorDocument : noBytes,
    };
    const head: FetchHead = {
      status,
      etag: '',
      size: -1,
      first: 0,
      length: 0,
      lastModified: 0,
      headerLines: noBytes,
      error,
    };
    return { head, told: null, body: noBytes, breaksOff: false };
  }

  #drawFault(isFetch: boolean): ReadFault {
    const { prng } = this.#options;
    const next = this.nextFaults.shift();
    if (next !== undefined) return next;
    if (this.faultPercent === 0 || prng.below(100) >= this.faultPercent) return 'none';
    return prng.pick(isFetch ? allFaults : plainFaults);
  }

  #noteFault({ request, id }: OriginRequest, fault: ReadFault): void {
    const { queue, history, situations } = this.#options;
    situations.arose('origin fault');
    const object = nameOf(request.bucket, request.key);
    const what = `S3 request ${id}: ${fault}`;
    history.faultBegan({ what, from: queue.now, until: queue.now, gateway: -1, object });
  }

  /** All of a version's bytes, made once. */
  #contentOf({ etag, size, content }: Version): Uint8Array {
    let bytes = this.#contents.get(etag);
    if (bytes === undefined) {
      bytes = new Uint8Array(size);
      fillContent(content, 0, bytes);
      this.#contents.set(etag, bytes);
    }
    return bytes;
  }
}

/** The number of the request to S3 that an error belongs to. */
export function requestOfError({ headerLines }: OriginError): number {
  const text = new TextDecoder().decode(headerLines);
  assert(text.startsWith(idHeader), 'every error of S3 names its request');
  return Number.parseInt(text.slice(idHeader.length), 10);
}

function toldOf({ version, first, length }: S3Answer, etag: string): Told {
  const { size, lastModified } = version;
  return { etag, size, lastModified: etag === '' ? 0 : lastModified, first, length };
}

function misread(request: S3Read, fault: ReadFault): S3Read {
  if (fault === 'ignores range') return { ...request, range: null };
  if (fault === 'ignores if-match') return { ...request, conditions: noConditions };
  return request;
}

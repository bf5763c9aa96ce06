/**
 * Hand-made histories to try the checkers on: an oracle, a history, and sound records that a test then spoils.
 *
 * Two buckets' worth of policy, four credentials. Times are whatever the test says.
 */
import type { ClientAnswer } from '../../history/client-answer.ts';
import type { ClientWrite, WriteStart } from '../../history/client-write.ts';
import { History } from '../../history/history.ts';
import type { NodeRead, NodeReadStart } from '../../history/node-read.ts';
import type { OriginRequest, OriginStart } from '../../history/origin-request.ts';
import { fillContent } from '../../oracle/content.ts';
import { answerFrom, Oracle } from '../../oracle/oracle.ts';
import { noConditions, type ReadConditions, type S3Read } from '../../oracle/request.ts';
import type { NewObject, Version } from '../../oracle/version.ts';
import type { Rules } from '../rules.ts';

export const everything = 0;
export const readsLogs = 1;
export const writesLogs = 2;
export const nothing = 3;

export const rules: Rules = {
  maxDrift: 0.001,
  faultGraceMs: 1000,
  doorkeeperWindowMs: 10_000,
  answerWithinMs: 5000,
  suspicionMs: 500,
  peerRestMs: 1000,
  hotReplicas: 2,
};

export interface Asked {
  readonly key?: string;
  readonly head?: boolean;
  readonly range?: string | null;
  readonly conditions?: Partial<ReadConditions>;
  readonly startedAt: number;
  /** Default: 10 ms after the start. */
  readonly answeredAt?: number;
  readonly gateway?: number;
  readonly credential?: number;
  readonly staleMs?: number;
}

export class HandMade {
  readonly oracle = new Oracle(1_700_000_000);
  readonly history = new History([
    { name: 'everything', grants: [{ bucket: '*', prefix: '', access: 'write' }] },
    { name: 'reads logs', grants: [{ bucket: 'b', prefix: 'logs/', access: 'read' }] },
    { name: 'writes logs', grants: [{ bucket: 'b', prefix: 'logs/', access: 'write' }] },
    { name: 'nothing', grants: [] },
  ]);

  /** Stores new bytes behind the cache's back, or by a client's write. */
  put(at: number, key: string, size: number, change: Partial<NewObject> = {}, write = -1): Version {
    const object = { size, content: this.oracle.newContent(), parts: 0, isWeak: false, ...change };
    return this.oracle.put(at, 'b', key, object, write).version!;
  }

  delete(at: number, key: string): void {
    this.oracle.delete(at, 'b', key);
  }

  /** A finished answer that shows `state`, whether or not it may. */
  answer(state: Version, asked: Asked): ClientAnswer {
    const request = requestOf(state.key, asked);
    const answer = this.history.answerStarted({
      client: 0,
      credential: asked.credential ?? everything,
      gateway: asked.gateway ?? 0,
      gatewayLife: 1,
      request,
      staleMs: asked.staleMs ?? 0,
      startedAt: asked.startedAt,
    });
    const { status, code, first, length } = answerFrom(state, request);
    answer.end = 'finished';
    answer.answeredAt = asked.answeredAt ?? asked.startedAt + 10;
    answer.endedAt = answer.answeredAt + 5;
    answer.status = status;
    answer.code = request.head ? '' : code;
    if (status === 416) answer.size = state.size;
    if (status === 404) answer.errorOf = this.refusal(request, answer.startedAt + 1).id;
    if (status !== 200 && status !== 206 && status !== 304) return answer;
    answer.etag = state.etag;
    answer.lastModified = state.lastModified;
    if (status === 304) return answer;
    answer.size = state.size;
    answer.first = first;
    answer.length = length;
    if (!request.head) this.#fill(answer, state, first, length);
    return answer;
  }

  /** S3's error for the request: a 404 unless `status` says otherwise. */
  refusal(request: S3Read, sentAt: number, status = 404, code = 'NoSuchKey'): OriginRequest {
    const origin = this.fetch({ request: { ...request, conditions: noConditions }, sentAt });
    origin.decidedAt = sentAt + 1;
    origin.endedAt = sentAt + 2;
    origin.end = 'answered';
    origin.status = status;
    origin.code = code;
    return origin;
  }

  /** An error that isn't about the object's state. */
  error(key: string, status: number, code: string, asked: Asked): ClientAnswer {
    const answer = this.answer(this.oracle.current('b', key), asked);
    answer.status = status;
    answer.code = code;
    answer.etag = '';
    answer.size = -1;
    answer.lastModified = 0;
    answer.errorOf = -1;
    answer.received = 0;
    answer.body.length = 0;
    return answer;
  }

  write(change: Partial<WriteStart> & { readonly startedAt: number }): ClientWrite {
    return this.history.writeStarted({
      client: 0,
      credential: everything,
      gateway: 0,
      gatewayLife: 1,
      operation: 'put',
      bucket: 'b',
      keys: ['k'],
      source: null,
      ...change,
    });
  }

  /** A put of new bytes that took effect and ended so. */
  written(startedAt: number, key: string, outcome: 'done' | 'failed' | 'unknown'): ClientWrite {
    const write = this.write({ startedAt, keys: [key] });
    if (outcome !== 'failed') write.versions.push(this.put(startedAt + 1, key, 50, {}, write.id));
    conclude(write, startedAt + 2, outcome);
    return write;
  }

  fetch(
    change: Partial<OriginStart> & { readonly request: S3Read; readonly sentAt: number },
  ): OriginRequest {
    return this.history.originAsked({ node: 0, life: 1, kind: 'fetch', ...change });
  }

  lookup(change: Partial<NodeReadStart> & { readonly arrivedAt: number }): NodeRead {
    return this.history.nodeAsked({
      standsIn: false,
      node: 0,
      life: 1,
      kind: 'lookup',
      bucket: 'b',
      key: 'k',
      etag: '',
      first: 0,
      last: 0,
      partLast: 0,
      ...change,
    });
  }

  /** In pieces, as a body comes. */
  #fill(answer: ClientAnswer, state: Version, first: number, length: number): void {
    const pieceBytes = 13;
    for (let at = 0; at < length; at += pieceBytes) {
      const piece = new Uint8Array(Math.min(pieceBytes, length - at));
      fillContent(state.content, first + at, piece);
      this.history.bytesCame(answer, piece);
    }
  }
}

export function requestOf(key: string, asked: Partial<Asked> = {}): S3Read {
  return {
    bucket: 'b',
    key: asked.key ?? key,
    head: asked.head ?? false,
    range: asked.range ?? null,
    conditions: { ...noConditions, ...asked.conditions },
  };
}

/** The write ends at `at`, and its client hears of it at once. */
export function conclude(
  write: ClientWrite,
  at: number,
  outcome: 'done' | 'failed' | 'unknown',
): void {
  write.conclusion = outcome;
  write.outcome = outcome;
  write.concludedAt = at;
  write.endedAt = at;
}

/** A block's or a range's bytes of a version. */
export function bytesOf(version: Version, first: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  fillContent(version.content, first, bytes);
  return bytes;
}

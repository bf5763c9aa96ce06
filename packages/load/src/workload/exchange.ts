/** One request, what its answer has to be, and when things happened. Each connection has one record and uses it again. */
import type { Operation } from '../plan/plan.ts';

export interface Exchange {
  operation: Operation;
  object: number;
  key: string;
  identity: number;
  /** Of the whole object. */
  size: number;
  /** The part that a GET asks for: the whole object when `bytes` is `size`. */
  first: number;
  bytes: number;
  /** Milliseconds of performance.now: when it ought to have been sent, was sent, and got the answer's first byte (0: not yet). */
  dueAt: number;
  sentAt: number;
  firstByteAt: number;
}

export function newExchange(): Exchange {
  return {
    operation: 'get',
    object: 0,
    key: '',
    identity: 0,
    size: 0,
    first: 0,
    bytes: 0,
    dueAt: 0,
    sentAt: 0,
    firstByteAt: 0,
  };
}

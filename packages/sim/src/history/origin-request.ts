/** One request that reached S3, or tried to: a node's fetch, or a client's request that passed through. */
import type { S3Read } from '../oracle/request.ts';

/**
 * open: no answer yet. answered: head and all promised bytes left S3. broken: the body broke off. unreachable: there was no
 * answer. cut: whoever asked closed the connection.
 */
export type OriginEnd = 'open' | 'answered' | 'broken' | 'unreachable' | 'cut';

/** What is known of a request as it is sent. */
export interface OriginStart {
  readonly node: number;
  /** Which life of the node's process. */
  readonly life: number;
  /** fetch: the core asked. passed: a client's own read. */
  readonly kind: 'fetch' | 'passed';
  readonly request: S3Read;
  /** When it was sent. */
  readonly sentAt: number;
}

export interface OriginRequest extends OriginStart {
  /** Counts the requests of a run; errors carry it, so that whoever gets one can say whose it is. */
  readonly id: number;

  /** When S3 decided what to answer; Infinity while it didn't. */
  decidedAt: number;
  endedAt: number;
  end: OriginEnd;
  status: number;
  code: string;
  /** Whether a fault of the run made the answer other than S3's. */
  isFaulty: boolean;
}

export function newOriginRequest(id: number, start: OriginStart): OriginRequest {
  return {
    id,
    ...start,
    decidedAt: Infinity,
    endedAt: Infinity,
    end: 'open',
    status: 0,
    code: '',
    isFaulty: false,
  };
}

/**
 * One client's read and everything that the client saw of it. Opened when the request leaves the client, filled in as the
 * answer comes. All times are the run's true time in milliseconds.
 */
import type { S3Read } from '../oracle/request.ts';

/**
 * open: the client still waits. finished: the answer came to its end, and the connection lives on. cut: the connection
 * broke off before that. gone: the client itself left.
 */
export type AnswerEnd = 'open' | 'finished' | 'cut' | 'gone';

/** What is known of a read as its client sends it. */
export interface AnswerStart {
  readonly client: number;
  /** Index in the history's credentials. */
  readonly credential: number;
  readonly gateway: number;
  /** Which life of the gateway's process: a new one remembers none of its writes. */
  readonly gatewayLife: number;
  readonly request: S3Read;
  /** How old the bucket's policy allows an answer to be, in milliseconds; Infinity for immutable. */
  readonly staleMs: number;
  readonly startedAt: number;
}

export interface ClientAnswer extends AnswerStart {
  /** Counts the reads of a run. */
  readonly id: number;

  end: AnswerEnd;
  /** When the head came; Infinity while there is none. */
  answeredAt: number;
  endedAt: number;
  /** 0 as long as there is no head. */
  status: number;
  /** S3's error code, '' when it isn't an error or has none. */
  code: string;
  /** As told: '' and -1 when the answer doesn't say. The size is the whole object's, a 416's too. */
  etag: string;
  size: number;
  /** Seconds since 1970; 0 when the answer doesn't say. */
  lastModified: number;
  /** Of 200 and 206: position of the first body byte, and Content-Length; -1 when the body doesn't say how long it is. */
  first: number;
  length: number;
  /** The object's bytes as they came, nothing of an error's body; the arrays are kept, not copied. */
  readonly body: Uint8Array[];
  received: number;
  /** The gateway sent the request on to S3 and relayed what came. */
  isPassedThrough: boolean;
  /** The request to S3 whose error was relayed, by the id that S3 put into it; -1 when no error of S3's was relayed. */
  errorOf: number;
}

export function newClientAnswer(id: number, start: AnswerStart): ClientAnswer {
  return {
    id,
    ...start,
    end: 'open',
    answeredAt: Infinity,
    endedAt: Infinity,
    status: 0,
    code: '',
    etag: '',
    size: -1,
    lastModified: 0,
    first: 0,
    length: 0,
    body: [],
    received: 0,
    isPassedThrough: false,
    errorOf: -1,
  };
}

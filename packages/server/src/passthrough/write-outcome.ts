/**
 * What became of a write, judged from the origin's answer.
 *
 * done: it was made. failed: it surely wasn't. unknown: it may have been, so its keys revalidate for a while.
 * CompleteMultipartUpload, CopyObject and DeleteObjects answer 200 early, send white space while they work, and say only in
 * the body what happened.
 */
import type { WriteOutcome } from '@s3-accelerator/core/gateway/knowledge.ts';
import type { Operation } from '../auth/operation.ts';

/** Judged by the status alone. S3's 5xx may come after the write was made. */
export function outcomeOfStatus(status: number): WriteOutcome {
  if (status >= 200 && status < 300) return 'done';
  return status >= 500 ? 'unknown' : 'failed';
}

/** Whether a 200 says nothing yet, and the body has the last word. */
export function speaksInBody(operation: Operation): boolean {
  return (
    operation === 'CompleteMultipartUpload' ||
    operation === 'CopyObject' ||
    operation === 'DeleteObjects'
  );
}

/** Enough for the root element's name. */
const judgedBytes = 1024;

/** Follows a body that has the last word. The XML declaration and white space around it say nothing. */
export class BodyVerdict {
  #document = '';

  push(bytes: Uint8Array): void {
    if (this.#document.length >= judgedBytes) return;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    const document = (this.#document + text).replace(/^\s*(?:<\?xml[^>]*\?>\s*)?/, '');
    this.#document = document.slice(0, judgedBytes);
  }

  /** Whether the document itself has begun: what came before, the client may have at once. */
  get begun(): boolean {
    return this.#document !== '' && !'<?xml'.startsWith(this.#document.slice(0, 5));
  }

  /** Once the body is complete. */
  outcome(): WriteOutcome {
    const root = /^<(?:[A-Za-z0-9_.-]+:)?([A-Za-z]+)/.exec(this.#document)?.[1];
    return root?.endsWith('Result') === true ? 'done' : 'unknown';
  }
}

/** Operations that change what a read of their key gets, or who may have it. */
const changesKey: ReadonlySet<Operation> = new Set<Operation>([
  'PutObject',
  'CopyObject',
  'CompleteMultipartUpload',
  'DeleteObject',
  'RestoreObject',
  'UpdateObjectEncryption',
  'PutObjectAcl',
  'PutObjectTagging',
  'DeleteObjectTagging',
  'PutObjectLegalHold',
  'PutObjectRetention',
]);

/** Whether the operation writes the key in its target; an unknown one may, unless its method only reads. */
export function writesKey(operation: Operation, method: string): boolean {
  if (operation === 'Unknown') return method !== 'GET' && method !== 'HEAD';
  return changesKey.has(operation);
}

/**
 * Coalescing (SPEC §4.5): readers share what S3 says about an object's state, but an error or a 404 goes to nobody who
 * came after the request that it answers was sent, and to nobody who asked about another object.
 */
import type { ClientAnswer } from '../history/client-answer.ts';
import type { History } from '../history/history.ts';
import type { NodeRead } from '../history/node-read.ts';
import type { OriginRequest } from '../history/origin-request.ts';

/** Called once a client's answer has ended. */
export function checkSharedError(history: History, answer: ClientAnswer): string | null {
  const { status, errorOf, request, startedAt } = answer;
  if (errorOf === -1) {
    const isMadeUp = status === 404 && !answer.isPassedThrough;
    return isMadeUp ? 'a 404 that no request to S3 ended in' : null;
  }
  const wrong = whyNotTheirs(history, errorOf, request.bucket, request.key, startedAt);
  if (wrong !== null) return wrong;
  const said = history.originRequests[errorOf]!.status;
  return said === status ? null : `a ${status} where S3 said ${said}`;
}

/** Called once a node has answered a gateway's read. */
export function checkNodeError(history: History, read: NodeRead): string | null {
  if (read.failure === 'origin' && read.errorOf === -1) return whyNotSilent(history, read);
  if (read.errorOf === -1) return null;
  return whyNotTheirs(history, read.errorOf, read.bucket, read.key, read.arrivedAt);
}

/** Where S3 said nothing, or broke off, that too goes only to those who asked before. */
function whyNotSilent(history: History, read: NodeRead): string | null {
  const { originRequests } = history.of(read.bucket, read.key);
  const theirs = originRequests.findLast(
    ({ node, life, isFaulty, sentAt, decidedAt }) =>
      isFaulty &&
      node === read.node &&
      life === read.life &&
      sentAt >= read.arrivedAt &&
      decidedAt <= read.endedAt,
  );
  if (theirs !== undefined) return null;
  return `a read of ${read.arrivedAt} failed with no request to S3 that was sent later`;
}

function whyNotTheirs(
  history: History,
  id: number,
  bucket: string,
  key: string,
  askedAt: number,
): string | null {
  const origin: OriginRequest | undefined = history.originRequests[id];
  if (origin === undefined) return 'an error that no request to S3 ended in';
  if (origin.request.bucket !== bucket || origin.request.key !== key) {
    return `an error about ${origin.request.bucket}/${origin.request.key}`;
  }
  if (origin.status < 400) return `an error where S3 said ${origin.status}`;
  if (origin.sentAt >= askedAt) return null;
  return `error of a request sent at ${origin.sentAt}, given to a read of ${askedAt}`;
}

/**
 * Read your writes (SPEC §4.4): what a gateway wrote, its next read sees.
 *
 * The bound on an answer's age isn't the bucket's staleness then but the write: the answer must fit a state of the key
 * that was current after the write took effect. After a write whose outcome the gateway doesn't know, reads must be as
 * fresh as if nothing was cached, until nobody expects it any more (60 s); from then on no older than that moment.
 *
 * Of immutable buckets only keys that were missing before are held to it: writing over an immutable object breaks the
 * promise that the bucket's setting makes.
 */
import type { ClientAnswer } from '../history/client-answer.ts';
import type { ClientWrite } from '../history/client-write.ts';
import type { History } from '../history/history.ts';
import type { Oracle } from '../oracle/oracle.ts';
import { isAboutState, whyImpossible } from './possible-answer.ts';
import { atLeast, clockGrainMs, unknownWriteMs, type Rules } from './rules.ts';

/** Called once an answer has ended. Null when it is new enough. */
export function checkReadYourWrites(
  history: History,
  oracle: Oracle,
  rules: Rules,
  answer: ClientAnswer,
): string | null {
  if (!isAboutState(answer.status)) return null;
  const { bucket, key } = answer.request;
  if (answer.staleMs === Infinity && wasWrittenOver(oracle, bucket, key)) return null;
  let after = -Infinity;
  let writer: ClientWrite | null = null;
  for (const write of history.of(bucket, key).writes) {
    if (write.gateway !== answer.gateway || write.gatewayLife !== answer.gatewayLife) continue;
    const demanded = demandOf(write, answer, rules);
    if (demanded > after) {
      after = demanded;
      writer = write;
    }
  }
  if (writer === null) return null;
  const wrong = whyImpossible(oracle, answer, after, answer.answeredAt);
  if (wrong === null) return null;
  return `after ${writer.operation} ${writer.id} (${writer.conclusion}) through the same gateway: ${wrong}`;
}

/** The moment that the write demands of the answer: states that ended by then are too old. -Infinity for none. */
function demandOf(write: ClientWrite, answer: ClientAnswer, rules: Rules): number {
  const { startedAt } = answer;
  const wasTold = write.outcome === 'done' && write.endedAt <= startedAt;
  const isConcluded = write.concludedAt <= startedAt;
  if (wasTold || (isConcluded && write.conclusion === 'done')) {
    let effect = -Infinity;
    for (const version of write.versions) {
      if (version.key === answer.request.key) effect = Math.max(effect, version.since);
    }
    return effect;
  }
  if (!isConcluded || write.conclusion !== 'unknown') return -Infinity;
  const expected = write.concludedAt + atLeast(unknownWriteMs, rules);
  // A state that ended at the very moment of the request may still be shown.
  return Math.min(startedAt, expected) - clockGrainMs;
}

function wasWrittenOver(oracle: Oracle, bucket: string, key: string): boolean {
  let written = 0;
  for (const { etag } of oracle.history(bucket, key)) if (etag !== '') written += 1;
  return written > 1;
}

/**
 * Answers (SPEC §4.1, 4.5): what a client saw is what S3 could have said at some moment between request and answer, less
 * the staleness that the bucket declares. Two versions are never mixed, a finished answer is whole, a 404 is never stale.
 *
 * An error that isn't about the object's state, and an answer that broke off, need an excuse: an error that S3 did give, a
 * fault of the run that could have hurt this answer, or, for one that broke off, an object that changed meanwhile.
 */
import type { ClientAnswer } from '../history/client-answer.ts';
import type { History } from '../history/history.ts';
import type { Oracle } from '../oracle/oracle.ts';
import { isExcused } from './excuses.ts';
import { isAboutState, whyImpossible } from './possible-answer.ts';
import { atMost, type Rules } from './rules.ts';

/** Called once an answer has ended, in whichever way. Null when it is right, else what is wrong with it. */
export function checkAnswer(
  history: History,
  oracle: Oracle,
  rules: Rules,
  answer: ClientAnswer,
): string | null {
  const { status, startedAt, answeredAt } = answer;
  if (status !== 0) {
    if (answeredAt < startedAt) return 'an answer that came before its request';
    const wrong = isAboutState(status)
      ? whyImpossible(oracle, answer, oldestMoment(rules, answer), answeredAt)
      : whyNoError(history, rules, answer);
    if (wrong !== null) return wrong;
  } else if (answer.end === 'finished') {
    return 'an answer that ended without a head';
  }
  return answer.end === 'cut' ? whyNoCut(history, oracle, rules, answer) : null;
}

/** States that ended by then can't be in an answer. */
function oldestMoment(rules: Rules, answer: ClientAnswer): number {
  const { status, startedAt, staleMs } = answer;
  // What is missing is never remembered, so a 404 is always news. `until > startedAt` would refuse a state that ended at
  // the very moment of the request, which S3 may have shown.
  const allowed = status === 404 || staleMs === 0 ? 0 : staleMs;
  return startedAt - atMost(allowed, rules);
}

function whyNoError(history: History, rules: Rules, answer: ClientAnswer): string | null {
  const { status, code, errorOf } = answer;
  if (answer.received > 0) return `status ${status} with bytes of an object`;
  // Whether it was allowed is the authorisation checker's question.
  if (status === 403 && errorOf === -1) return null;
  if (errorOf >= 0) {
    const origin = history.originRequests[errorOf];
    if (origin === undefined) return 'an error that no request to S3 ended in';
    if (origin.status !== status) return `status ${status} where S3 said ${origin.status}`;
    if (!answer.request.head && origin.code !== code) {
      return `code '${code}' where S3 said '${origin.code}'`;
    }
    return null;
  }
  if (status !== 500 && status !== 503) return `status ${status} (${code}) for no reason`;
  return isExcused(history, rules, answer) ? null : `status ${status} (${code}) without a fault`;
}

/** Versions that change mid-read cut its answer short, and so do faults. */
function whyNoCut(
  history: History,
  oracle: Oracle,
  rules: Rules,
  answer: ClientAnswer,
): string | null {
  if (isExcused(history, rules, answer)) return null;
  const { bucket, key } = answer.request;
  const since = oldestMoment(rules, answer);
  const changed = oracle
    .history(bucket, key)
    .some((state) => state.since > since && state.since <= answer.endedAt);
  if (changed && answer.status !== 0) return null;
  return answer.status === 0 ? 'cut off without an answer' : 'cut short without a cause';
}

/**
 * Liveness (SPEC §4.9): once faults have stopped, every read and write finishes, and soon.
 */
import type { History } from '../history/history.ts';
import type { Rules } from './rules.ts';

/** Called at the end of a run; `faultsEndedAt` is when the last fault stopped, 0 without any. */
export function checkLiveness(
  history: History,
  rules: Rules,
  faultsEndedAt: number,
): string | null {
  for (const answer of history.answers) {
    const what = `read ${answer.id} of client ${answer.client}`;
    if (answer.end === 'open') return `${what}, asked at ${answer.startedAt}, was never answered`;
    const { startedAt, endedAt } = answer;
    if (isLate(startedAt, endedAt, faultsEndedAt, rules)) return late(what, startedAt, endedAt);
  }
  for (const write of history.writes) {
    const what = `${write.operation} ${write.id} of client ${write.client}`;
    const { startedAt, endedAt } = write;
    if (write.outcome === 'open') return `${what}, asked at ${startedAt}, was never answered`;
    if (isLate(startedAt, endedAt, faultsEndedAt, rules)) return late(what, startedAt, endedAt);
  }
  return null;
}

function isLate(startedAt: number, endedAt: number, faultsEndedAt: number, rules: Rules): boolean {
  return endedAt > Math.max(startedAt, faultsEndedAt) + rules.answerWithinMs;
}

function late(what: string, startedAt: number, endedAt: number): string {
  return `${what}, asked at ${startedAt}, ended only at ${endedAt}`;
}

/**
 * Whether a fault of the run can be to blame for what happened to an answer: one that hurts its gateway and its object, and
 * lasted, or had time-outs left to run, while the client waited.
 */
import type { ClientAnswer } from '../history/client-answer.ts';
import type { History } from '../history/history.ts';
import type { FaultRecord } from '../history/fault.ts';
import { nameOf } from '../oracle/oracle.ts';
import type { Rules } from './rules.ts';

export function isExcused(history: History, rules: Rules, answer: ClientAnswer): boolean {
  const { bucket, key } = answer.request;
  const object = nameOf(bucket, key);
  const isHurt = (fault: FaultRecord) =>
    fault.from <= answer.endedAt &&
    fault.until + rules.faultGraceMs >= answer.startedAt &&
    (fault.gateway === -1 || fault.gateway === answer.gateway) &&
    (fault.object === '' || fault.object === object);
  if (history.faults.some(isHurt)) return true;
  // S3's own misbehaviour is on its requests.
  return history
    .of(bucket, key)
    .originRequests.some(
      (request) =>
        request.isFaulty &&
        request.sentAt <= answer.endedAt &&
        request.endedAt + rules.faultGraceMs >= answer.startedAt,
    );
}

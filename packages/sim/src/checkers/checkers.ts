/**
 * All checkers of a run behind one door: the world says what happened, and gets the first violation, if any.
 *
 * | checker          | asked                                     | invariant of SPEC §4 |
 * | answers          | as an answer ends                         | 1, 5, 8, 10          |
 * | read-your-writes | as an answer ends                         | 4                    |
 * | authorisation    | as an answer or a write ends, at the end  | 7                    |
 * | coalescing       | as an answer or a node's read ends        | 5                    |
 * | fills            | as a node asks S3                         | 3                    |
 * | admission        | as a block is let in                      | §3, 5                |
 * | durability       | as a slot changes, as a disk was synced   | 6                    |
 * | stored-blocks    | as a node ends, for every trusted block   | 2, 6                 |
 * | bounds           | now and then, for every process           | 9                    |
 * | leaks            | when everything rests                     | 9                    |
 * | liveness         | at the end                                | 9                    |
 * | rings            | as a process adopts a ring, at the end    | 8                    |
 * | handovers        | as a node fills from S3 what moved to it  | §3                   |
 * | standing-in      | as a gateway lets a node stand in         | §3                   |
 * | leases           | as a placement is lent, as a block of one | §3                   |
 * |                  | is let in                                 |                      |
 */
import type { Admission, SlotEvent } from '../history/block-event.ts';
import type { ClientAnswer } from '../history/client-answer.ts';
import type { ClientWrite } from '../history/client-write.ts';
import type { History } from '../history/history.ts';
import type { LeaseGrant, LeaseRefusal } from '../history/lease-grant.ts';
import type { NodeFailure, StandInRead } from '../history/node-failure.ts';
import type { NodeRead } from '../history/node-read.ts';
import type { OriginRequest } from '../history/origin-request.ts';
import type { MovedFill } from '../history/peer-ask.ts';
import type { RingRecord } from '../history/ring-record.ts';
import type { ClusterView, DurableRecord, ProcessState, StoredBlock } from '../history/views.ts';
import { nameOf, type Oracle } from '../oracle/oracle.ts';
import { Admissions } from './admission.ts';
import { checkAnswer } from './answers.ts';
import {
  checkReadAuthorisation,
  checkVersionsMade,
  checkWriteAuthorisation,
} from './authorisation.ts';
import { checkBounds } from './bounds.ts';
import { checkNodeError, checkSharedError } from './coalescing.ts';
import { checkDurableRecord, SlotLives } from './durability.ts';
import { checkFetch } from './fills.ts';
import { checkMovedFill } from './handovers.ts';
import { checkLeaks } from './leaks.ts';
import { checkLentAdmission, Leases } from './leases.ts';
import { checkLiveness } from './liveness.ts';
import { checkReadYourWrites } from './read-your-writes.ts';
import { checkAgreement, Rings } from './rings.ts';
import type { Rules } from './rules.ts';
import { StandIns } from './standing-in.ts';
import { checkStoredBlock } from './stored-blocks.ts';

export type CheckerName =
  | 'answers'
  | 'read-your-writes'
  | 'authorisation'
  | 'coalescing'
  | 'fills'
  | 'admission'
  | 'durability'
  | 'stored-blocks'
  | 'bounds'
  | 'leaks'
  | 'liveness'
  | 'rings'
  | 'handovers'
  | 'standing-in'
  | 'leases';

export interface Violation {
  readonly checker: CheckerName;
  readonly what: string;
  /** The objects involved, as `nameOf` writes them; `describeObjects` tells what happened to them. */
  readonly objects: readonly string[];
}

export class Checkers {
  readonly #history: History;
  readonly #oracle: Oracle;
  readonly #rules: Rules;
  readonly #admissions: Admissions;
  readonly #slots = new SlotLives();
  readonly #rings = new Rings();
  readonly #standIns: StandIns;
  readonly #leases: Leases;
  #violation: Violation | null = null;

  constructor(history: History, oracle: Oracle, rules: Rules, blockBytes: number) {
    this.#history = history;
    this.#oracle = oracle;
    this.#rules = rules;
    this.#standIns = new StandIns(rules);
    this.#leases = new Leases(rules);
    this.#admissions = new Admissions(history, oracle, rules, blockBytes);
  }

  /** The first violation; null as long as all is well. Look after each event: a run ends with it. */
  get violation(): Violation | null {
    return this.#violation;
  }

  /** A client's answer came to its end, in whichever way. Its body is dropped, unless something is wrong with it. */
  answerEnded(answer: ClientAnswer): void {
    const { bucket, key } = answer.request;
    const objects = [nameOf(bucket, key)];
    const history = this.#history;
    this.#note('authorisation', checkReadAuthorisation(history, answer), objects);
    this.#note('answers', checkAnswer(history, this.#oracle, this.#rules, answer), objects);
    this.#note(
      'read-your-writes',
      checkReadYourWrites(history, this.#oracle, this.#rules, answer),
      objects,
    );
    this.#note('coalescing', checkSharedError(history, answer), objects);
    if (this.#violation === null) history.dropBody(answer);
  }

  /** The client knows the outcome of its write, or gave up. */
  writeEnded(write: ClientWrite): void {
    this.#note('authorisation', checkWriteAuthorisation(this.#history, write), objectsOf(write));
  }

  /** A node answered a gateway's read, or it was cancelled. */
  nodeReadEnded(read: NodeRead): void {
    const wrong = checkNodeError(this.#history, read);
    this.#note('coalescing', wrong, [nameOf(read.bucket, read.key)]);
  }

  /** A node sent a request to S3. */
  originAsked(request: OriginRequest): void {
    const { bucket, key } = request.request;
    this.#note('fills', checkFetch(this.#history, this.#oracle, request), [nameOf(bucket, key)]);
  }

  /** A node began to store a block. */
  admitted(admission: Admission): void {
    const { bucket, key } = admission.block;
    this.#note('admission', this.#admissions.check(admission), [nameOf(bucket, key)]);
    this.#note('leases', checkLentAdmission(admission), [nameOf(bucket, key)]);
  }

  /** A node lends a hot placement to another. */
  leaseGranted(grant: LeaseGrant): void {
    this.#note('leases', this.#leases.granted(grant), []);
  }

  /** A node that lends heard that another didn't take its lease. */
  leaseRefused(refusal: LeaseRefusal): void {
    this.#leases.refused(refusal);
  }

  /** Something happened to a slot. */
  slotChanged(event: SlotEvent): void {
    this.#note('durability', this.#slots.check(event), []);
  }

  /** A record that a disk would keep if its process crashed now. */
  recordSeen(record: DurableRecord): void {
    const { block } = record;
    const objects = block === null ? [] : [nameOf(block.bucket, block.key)];
    this.#note('durability', checkDurableRecord(this.#oracle, record), objects);
  }

  /** A block that a node trusts. */
  blockSeen(stored: StoredBlock): void {
    const { block } = stored;
    const objects = block === null ? [] : [nameOf(block.bucket, block.key)];
    this.#note('stored-blocks', checkStoredBlock(this.#oracle, stored), objects);
  }

  /** A process places by another ring. */
  ringAdopted(record: RingRecord): void {
    this.#note('rings', this.#rings.adopted(record), []);
  }

  /** A node receives from S3 what a previous owner held when the request was sent. */
  movedFill(fill: MovedFill): void {
    const wrong = checkMovedFill(this.#history, this.#rules, fill);
    this.#note('handovers', wrong, [nameOf(fill.bucket, fill.key)]);
  }

  /** A node brought a gateway nothing. */
  nodeFailed(failure: NodeFailure): void {
    this.#standIns.failed(failure);
  }

  /** A gateway lets a node stand in for the owner. */
  standInAsked(read: StandInRead): void {
    this.#note('standing-in', this.#standIns.check(read), []);
  }

  /** The whole cluster, long after the last fault. */
  clusterSeen(view: ClusterView): void {
    this.#note('rings', checkAgreement(view), []);
  }

  /** The levels of a process while it works. */
  stateSeen(state: ProcessState): void {
    this.#note('bounds', checkBounds(state), []);
  }

  /** The levels of a process when nothing is under way anywhere. */
  restSeen(state: ProcessState): void {
    this.#note('bounds', checkBounds(state), []);
    this.#note('leaks', checkLeaks(state), []);
  }

  /** Nothing more happens. `faultsEndedAt`: when the last fault stopped, 0 without any. */
  ended(faultsEndedAt: number): void {
    const history = this.#history;
    this.#note('liveness', checkLiveness(history, this.#rules, faultsEndedAt), []);
    this.#note('authorisation', checkVersionsMade(history, this.#oracle), []);
    for (const write of history.writes) {
      this.#note('authorisation', checkWriteAuthorisation(history, write), objectsOf(write));
    }
  }

  #note(checker: CheckerName, what: string | null, objects: readonly string[]): void {
    if (what !== null) this.#violation ??= { checker, what, objects };
  }
}

function objectsOf({ bucket, keys }: ClientWrite): string[] {
  return keys.map((key) => nameOf(bucket, key));
}

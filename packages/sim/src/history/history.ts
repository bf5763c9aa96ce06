/**
 * The records of one run, in the order in which things happened. The world writes them, the checkers and the messages of a
 * failure read them; nobody else. It holds no logic but finding the records of an object.
 *
 * Memory: everything of a run, but bodies, which whoever checked an answer may drop (`dropBody`).
 */
import { nameOf } from '../oracle/oracle.ts';
import type { Admission } from './block-event.ts';
import { newClientAnswer, type AnswerStart, type ClientAnswer } from './client-answer.ts';
import { newClientWrite, type ClientWrite, type WriteStart } from './client-write.ts';
import type { Credential } from './credential.ts';
import type { FaultRecord } from './fault.ts';
import { newNodeRead, type NodeRead, type NodeReadStart } from './node-read.ts';
import { newOriginRequest, type OriginRequest, type OriginStart } from './origin-request.ts';
import type { PeerAsk } from './peer-ask.ts';
import type { RingRecord } from './ring-record.ts';

/** What concerns one object. */
export interface ObjectRecords {
  readonly answers: ClientAnswer[];
  readonly writes: ClientWrite[];
  readonly originRequests: OriginRequest[];
  readonly nodeReads: NodeRead[];
  readonly admissions: Admission[];
  readonly peerAsks: PeerAsk[];
}

export class History {
  readonly credentials: readonly Credential[];
  readonly answers: ClientAnswer[] = [];
  readonly writes: ClientWrite[] = [];
  readonly originRequests: OriginRequest[] = [];
  readonly nodeReads: NodeRead[] = [];
  readonly admissions: Admission[] = [];
  readonly peerAsks: PeerAsk[] = [];
  readonly faults: FaultRecord[] = [];
  readonly rings: RingRecord[] = [];
  readonly #objects = new Map<string, ObjectRecords>();

  constructor(credentials: readonly Credential[]) {
    this.credentials = credentials;
  }

  /** The records of an object, empty when there are none. */
  of(bucket: string, key: string): ObjectRecords {
    const name = nameOf(bucket, key);
    let records = this.#objects.get(name);
    if (records === undefined) {
      records = {
        answers: [],
        writes: [],
        originRequests: [],
        nodeReads: [],
        admissions: [],
        peerAsks: [],
      };
      this.#objects.set(name, records);
    }
    return records;
  }

  /** A client sends a read; the world fills in the record as the answer comes. */
  answerStarted(start: AnswerStart): ClientAnswer {
    const answer = newClientAnswer(this.answers.length, start);
    this.answers.push(answer);
    this.of(start.request.bucket, start.request.key).answers.push(answer);
    return answer;
  }

  /** Body bytes reached the client. The array is kept. */
  bytesCame(answer: ClientAnswer, bytes: Uint8Array): void {
    answer.body.push(bytes);
    answer.received += bytes.length;
  }

  /** Its bytes were judged and aren't needed any more. */
  dropBody(answer: ClientAnswer): void {
    answer.body.length = 0;
  }

  /** A client sends a write. */
  writeStarted(start: WriteStart): ClientWrite {
    const write = newClientWrite(this.writes.length, start);
    this.writes.push(write);
    for (const key of start.keys) this.of(start.bucket, key).writes.push(write);
    return write;
  }

  /** A node sends a request to S3. */
  originAsked(start: OriginStart): OriginRequest {
    const request = newOriginRequest(this.originRequests.length, start);
    this.originRequests.push(request);
    this.of(start.request.bucket, start.request.key).originRequests.push(request);
    return request;
  }

  /** A gateway's read arrived at a node. */
  nodeAsked(start: NodeReadStart): NodeRead {
    const read = newNodeRead(this.nodeReads.length, start);
    this.nodeReads.push(read);
    this.of(start.bucket, start.key).nodeReads.push(read);
    return read;
  }

  /** A node asks another for what it holds; the world fills in what comes of it. */
  peerAsked(ask: PeerAsk): PeerAsk {
    this.peerAsks.push(ask);
    this.of(ask.bucket, ask.key).peerAsks.push(ask);
    return ask;
  }

  admitted(admission: Admission): void {
    this.admissions.push(admission);
    this.of(admission.block.bucket, admission.block.key).admissions.push(admission);
  }

  /** A process places by another ring. */
  ringAdopted(record: RingRecord): void {
    this.rings.push(record);
  }

  /** A fault begins; set `until` when it is over. */
  faultBegan(fault: FaultRecord): FaultRecord {
    this.faults.push(fault);
    return fault;
  }
}

/**
 * What an object is: the home answers lookups from its metadata table, or asks S3, once for all that wait.
 *
 * ```
 * read ─► known and fresh ───────────────────────────► deliver: with body bytes if they are at hand
 *   │                                                    ▲ ▲
 *   ├─► stale ────► revalidation (If-None-Match) ─ 304 ──┘ │
 *   ├─► unknown (1) ► first fetch of the bytes ─ 200, 206 ─┘ the body goes on as a fill that readers join
 *   │                  └─ 416 ► HEAD instead     404, errors ► failure, to those who asked before it was sent
 *   ├─► a request is out already ► shares it if that is fresh enough for this reader, else the next one
 *   └─► unknown, and another node was the home lately, or unknown or stale, and the home lent it to this node ► asks that one first,
 *       then all its readers begin anew
 *
 * (1) or stale, and this node owns the reader's first bytes but lacks them: asking for them confirms as well.
 * ```
 * What a previous home knows has the age that it had there. Readers that need it fresher, and those that came because it turned out
 * to be wrong, go on to S3.
 *
 * Ages count from sending the request that confirmed the metadata. A request that was out when a write of its object came
 * by is answered to its readers, who had asked before, and not kept.
 *
 * Invariants: at most one request an object is out. A 404 or an error is never kept, nor answered to readers that came
 * after the request was sent. What isn't strongly named or sized is never kept.
 */
import { assert } from '../base/assert.ts';
import { copyHash128, type Hash128 } from '../base/hash.ts';
import type { ObjectMetadata, OriginError, ReadAnswer, ReadRequest } from '../read.ts';
import { newResolvedRange, resolveRange } from '../s3/byte-range.ts';
import { NO_SLOT } from '../store/store.ts';
import { answerFailure, answerMetadata, arrive, startOver } from './answers.ts';
import type { Asker, FetchHead } from './effects.ts';
import { newFetchRequest, type Fetch } from './fetch.ts';
import type { Fills } from './fill.ts';
import { describedObject, isStoredAgain, tellsChecksums } from './lookup-answer.ts';
import { planHead, planLookup, writeLookupRequest } from './lookup-plan.ts';
import type { Lookup, Lookups } from './lookup.ts';
import { handOverMetadata, toldOf } from './metadata-handover.ts';
import type { KnownMetadata } from './metadata-table.ts';
import type { NodeParts } from './parts.ts';
import type { Reader } from './reader.ts';

export class Home {
  readonly #parts: NodeParts;
  readonly #fills: Fills;
  readonly #lookups: Lookups;
  readonly #request = newFetchRequest();
  readonly #range = newResolvedRange();

  constructor(parts: NodeParts, fills: Fills, lookups: Lookups) {
    this.#parts = parts;
    this.#fills = fills;
    this.#lookups = lookups;
  }

  /** A gateway asks what an object is, and for the first bytes of a range of it. */
  read(now: number, asker: Asker, request: ReadRequest): void {
    if (request.onlyHeld) {
      handOverMetadata(this.#parts, now, asker, request, this.#lifetimeMs(request.bucket));
      return;
    }
    this.#parts.counters.lookups += 1;
    const reader = arrive(this.#parts, asker, request);
    if (reader !== null) this.begin(now, reader);
  }

  /** Answers a reader that is in no list, or lets it wait for S3. */
  begin(now: number, reader: Reader): void {
    const { metadata, counters } = this.#parts;
    const known = metadata.get(reader.bucket, reader.hash);
    if (known !== null && this.#isGoodEnough(now, known, reader)) {
      counters.metadataHits += 1;
      this.#deliver(now, reader, known.metadata, known.confirmedAt);
      return;
    }
    reader.waitsFor = 'lookup';
    const lookup = this.#lookups.of(reader.hash);
    if (lookup === null) {
      this.#open(now, reader);
      return;
    }
    if (this.#canShare(now, lookup, reader)) lookup.sharers.append(reader);
    else lookup.later.append(reader);
  }

  /** The block that a reader's bytes are of was verified, one way or the other: answers it. */
  goOn(now: number, reader: Reader): void {
    const { metadata, confirmedAt } = reader;
    assert(metadata !== null, 'a lookup waits for a verification once its metadata is known');
    this.#deliver(now, reader, metadata, confirmedAt);
  }

  /** S3's answer to a lookup. */
  onHead(now: number, fetch: Fetch, head: FetchHead): void {
    const lookup = this.#lookupOf(fetch);
    const { counters } = this.#parts;
    if (head.status === 304 && lookup.known !== null) {
      if (isStoredAgain(lookup.known, head)) {
        lookup.known = null;
        this.#askForHeadOnly(now, lookup, fetch);
        return;
      }
      counters.confirmations += 1;
      this.#end(fetch, false);
      this.#learn(now, lookup, fetch, lookup.known);
      return;
    }
    if (head.status === 416 && !fetch.headOnly) {
      this.#askForHeadOnly(now, lookup, fetch);
      return;
    }
    if (head.status !== 200 && head.status !== 206) {
      this.#fail(now, lookup, fetch, head.error, head.length !== 0);
      return;
    }
    // A body of unknown length is one too: what isn't wanted of it must be cut off.
    const hasBody = !fetch.headOnly && head.length !== 0;
    const metadata = describedObject(this.#parts.digest, fetch, head);
    if (metadata === null) {
      counters.oddAnswers += 1;
      this.#end(fetch, hasBody);
      this.#refuse(now, lookup, fetch);
      return;
    }
    if (!hasBody || !this.#adopt(now, fetch, head, metadata)) {
      this.#end(fetch, hasBody);
      this.#learn(now, lookup, fetch, metadata);
      return;
    }
    const { id } = fetch;
    this.#learn(now, lookup, fetch, metadata);
    this.#fills.keepIfJoined(now, id);
  }

  /** There was no answer at all. */
  onFailed(now: number, fetch: Fetch, error: OriginError | null): void {
    this.#fail(now, this.#lookupOf(fetch), fetch, error, false);
  }

  /** A previous home says what it knows, or the home that lent the object. */
  onPeerAnswer(now: number, fetch: Fetch, answer: ReadAnswer): void {
    const { handovers, effects, metadata, counters } = this.#parts;
    handovers.answered(now, fetch, answer);
    if (answer.bodyLength > 0) effects.cancelFetch(fetch.id);
    const told = toldOf(this.#parts, fetch, answer);
    if (told === null) {
      this.fallBack(now, fetch);
      return;
    }
    counters.metadataTakenOver += 1;
    const { isOvertaken } = this.#lookupOf(fetch);
    const confirmedAt = fetch.sentAt - answer.ageMs;
    const known = metadata.get(fetch.bucket, fetch.hash);
    const isNews = known === null || known.confirmedAt < confirmedAt;
    if (isNews && !isOvertaken) metadata.keep(fetch.hash, told, confirmedAt);
    this.#beginAnew(fetch);
  }

  /** The previous home that was asked brings nothing: the one before it is asked, then S3. */
  fallBack(now: number, fetch: Fetch): void {
    const { handovers } = this.#parts;
    handovers.ended(fetch);
    if (handovers.chooseNext(now, fetch)) handovers.askForMetadata(now, fetch);
    else this.#beginAnew(fetch);
  }

  /** A write of the object passes through this node, or has just ended. */
  onWrite(hash: Hash128): void {
    this.#parts.metadata.drop(hash);
    const lookup = this.#lookups.of(hash);
    if (lookup !== null) lookup.isOvertaken = true;
  }

  /** A reader that waits for a lookup left; with the last one goes the request. */
  leave(now: number, reader: Reader): void {
    const lookup = this.#lookups.of(reader.hash);
    assert(lookup !== null && reader.list !== null, 'a reader waits for a lookup that is there');
    reader.list.remove(reader);
    const { fetches, readers } = this.#parts;
    readers.release(reader);
    if (lookup.sharers.size > 0) return;
    const fetch = fetches.get(lookup.fetchId);
    assert(fetch !== null, 'a lookup has a request out');
    this.#end(fetch, true);
    this.#next(now, lookup, fetch.hash);
  }

  /** Previous homes had their turn: all readers of a lookup start over, with what is known now or else at S3. */
  #beginAnew(fetch: Fetch): void {
    const lookup = this.#lookupOf(fetch);
    const { sharers, later } = lookup;
    const { hash } = fetch;
    this.#end(fetch, false);
    for (const readers of [sharers, later]) {
      for (let reader = readers.shift(); reader !== null; reader = readers.shift()) {
        reader.skipsPeers = true;
        startOver(this.#parts, reader);
      }
    }
    this.#lookups.release(hash, lookup);
  }

  #isGoodEnough(now: number, known: KnownMetadata, reader: Reader): boolean {
    if (known.metadata.etag === reader.failedEtag) return false;
    if (reader.needsChecksums && !known.metadata.knowsChecksums) return false;
    return this.#isFresh(now, known.confirmedAt, reader);
  }

  /** Whether what S3 said to a request of `sentAt` may answer a reader that comes now. */
  #isFresh(now: number, sentAt: number, reader: Reader): boolean {
    const age = now - sentAt;
    return age < this.#lifetimeMs(reader.bucket) && age < reader.confirmedWithinMs;
  }

  #canShare(now: number, lookup: Lookup, reader: Reader): boolean {
    if (lookup.isOvertaken) return false;
    const fetch = this.#parts.fetches.get(lookup.fetchId);
    assert(fetch !== null, 'a lookup has a request out');
    const willKnow = lookup.known === null ? tellsChecksums(fetch) : lookup.known.knowsChecksums;
    if (reader.needsChecksums && !willKnow) return false;
    return this.#isFresh(now, fetch.sentAt, reader);
  }

  #lifetimeMs(bucket: string): number {
    const policy = this.#parts.policyOf(bucket);
    return policy.immutable ? Infinity : policy.ttlMs;
  }

  #lookupOf(fetch: Fetch): Lookup {
    const lookup = this.#lookups.of(fetch.hash);
    assert(lookup?.fetchId === fetch.id, 'a lookup waits for its own request');
    return lookup;
  }

  #open(now: number, reader: Reader): void {
    const { digest, counters } = this.#parts;
    if (!digest.objectHashMatches(reader.bucket, reader.key, reader.hash)) {
      counters.badRequests += 1;
      answerFailure(this.#parts, reader, 'peer', null);
      return;
    }
    const lookup = this.#lookups.acquire(reader.hash);
    if (lookup === null) {
      counters.fetchesExhausted += 1;
      answerFailure(this.#parts, reader, 'busy', null);
      return;
    }
    lookup.later.append(reader);
    this.#next(now, lookup, reader.hash);
  }

  /** Sends a request for those that couldn't share the last one; without any the lookup is over. */
  #next(now: number, lookup: Lookup, hash: Hash128): void {
    const { sharers, later } = lookup;
    assert(sharers.size === 0, 'the last request was answered to all that shared it');
    const fetch = later.size === 0 ? null : this.#fills.acquire(now);
    if (fetch === null) {
      for (let reader = later.shift(); reader !== null; reader = later.shift()) {
        answerFailure(this.#parts, reader, 'busy', null);
      }
      this.#lookups.release(hash, lookup);
      return;
    }
    let leader = later.first!;
    let failed = false;
    let lacksChecksums = false;
    let asksPeers = true;
    const known = this.#parts.metadata.get(leader.bucket, leader.hash)?.metadata ?? null;
    for (let reader = later.shift(); reader !== null; reader = later.shift()) {
      sharers.append(reader);
      if (leader.bodyLimit === 0 && reader.bodyLimit > 0) leader = reader;
      if (reader.failedEtag === known?.etag) failed = true;
      if (reader.needsChecksums && known?.knowsChecksums === false) lacksChecksums = true;
      if (reader.standsIn) fetch.standsIn = true;
      // A reader that knows of a later state than a previous home can, or that has been there, needs S3.
      if (reader.skipsPeers || reader.failedEtag !== '' || reader.confirmedWithinMs !== Infinity) {
        asksPeers = false;
      }
    }
    if (asksPeers && this.#asksAnother(now, lookup, fetch, leader, known === null)) return;
    const isKnown = known !== null && !failed && !lacksChecksums;
    lookup.known = isKnown && !this.#needsBytes(now, leader, known) ? known : null;
    // A head tells the checksums, and the bytes of an object that is known are mostly held.
    planLookup(this.#parts.layout, fetch, leader, lacksChecksums);
    this.#send(now, lookup, fetch);
  }

  /** Asks a previous home, of what is unknown here, or the home that lent its objects to this node; false when there is none. */
  #asksAnother(
    now: number,
    lookup: Lookup,
    fetch: Fetch,
    leader: Reader,
    isUnknown: boolean,
  ): boolean {
    const { handovers, ownership } = this.#parts;
    const placement = ownership.placementOfHome(leader.hash);
    // Where everything is confirmed each time, whatever the lender knows is too old.
    const mayBeFresher = handovers.lends(now, placement) && this.#lifetimeMs(leader.bucket) > 0;
    if (!isUnknown && !mayBeFresher) return false;
    if (!handovers.choose(now, fetch, placement)) return false;
    planHead(fetch, leader);
    lookup.known = null;
    this.#noteSent(now, lookup, fetch);
    handovers.askForMetadata(now, fetch);
    return true;
  }

  /**
   * Whether a reader's first bytes should be here and aren't: asking S3 for them confirms the object just as well. Not when a previous
   * owner may have them.
   */
  #needsBytes(now: number, reader: Reader, known: ObjectMetadata): boolean {
    const { layout, store, ownership } = this.#parts;
    resolveRange(reader.range, known.size, this.#range);
    const { kind, first, last } = this.#range;
    if (reader.bodyLimit === 0 || kind === 'unsatisfiable' || first > last) return false;
    const block = layout.blockOf(first);
    if (store.find(known.version, block) !== NO_SLOT) return false;
    const { hash, standsIn } = reader;
    if (!ownership.stores(now, hash, known.size, block, standsIn)) return false;
    return !ownership.hasPreviousOwner(now, ownership.placementOf(hash, known.size, block));
  }

  /** S3's answer said too little of the object: no such range, or that it was stored again. */
  #askForHeadOnly(now: number, lookup: Lookup, fetch: Fetch): void {
    this.#end(fetch, false);
    const next = this.#fills.acquire(now);
    assert(next !== null, 'a fetch that was given back can be had');
    planHead(next, fetch);
    this.#send(now, lookup, next);
  }

  #send(now: number, lookup: Lookup, fetch: Fetch): void {
    const { counters, effects } = this.#parts;
    const { known } = lookup;
    if (known === null) counters.firstFetches += 1;
    else counters.revalidations += 1;
    this.#noteSent(now, lookup, fetch);
    writeLookupRequest(fetch, known, this.#request);
    effects.startFetch(fetch.id, this.#request);
  }

  /** The lookup waits for this request from now on: writes that come by overtake it, and readers that come don't share its errors. */
  #noteSent(now: number, lookup: Lookup, fetch: Fetch): void {
    lookup.fetchId = fetch.id;
    lookup.isOvertaken = false;
    fetch.purpose = 'lookup';
    fetch.sentAt = now;
    fetch.sentAfter = this.#parts.arrivals;
  }

  /** Makes the body a fill that readers can join; false when nobody needs it. */
  #adopt(now: number, fetch: Fetch, head: FetchHead, metadata: ObjectMetadata): boolean {
    const { layout, store, ownership, limits } = this.#parts;
    const { size, version } = metadata;
    const { first } = head;
    const block = layout.blockOf(first);
    fetch.streamLast = first + head.length - 1;
    // A server that ignores ranges sends all of the object: what was asked for isn't at its beginning.
    if (fetch.rangeKind === 'bounded' && first !== fetch.first) return false;
    if (store.find(version, block) !== NO_SLOT) return false;
    fetch.mayStore = ownership.stores(now, fetch.hash, size, block, fetch.standsIn);
    let last = fetch.streamLast;
    if (!fetch.mayStore) last = Math.min(last, first + limits.smallAnswerBytes - 1);
    else if (fetch.rangeKind === 'bounded')
      last = Math.min(last, layout.stretchEnd(size, first) - 1);
    fetch.etag = metadata.etag;
    fetch.size = size;
    copyHash128(version, fetch.version);
    if (layout.blockOf(last) - block >= fetch.segments.length) return false;
    this.#fills.adopt(now, fetch, first, last);
    return true;
  }

  /** S3 confirmed or described the object: answers those that shared the request, and asks for the others. */
  #learn(now: number, lookup: Lookup, fetch: Fetch, metadata: ObjectMetadata): void {
    const { sentAt, sentAfter, hash } = fetch;
    const { sharers, later } = lookup;
    if (!lookup.isOvertaken) this.#parts.metadata.keep(hash, metadata, sentAt);
    for (let reader = sharers.shift(); reader !== null; reader = sharers.shift()) {
      const isLate = reader.arrival > sentAfter;
      const lacksChecksums = reader.needsChecksums && !metadata.knowsChecksums;
      if (lacksChecksums || (isLate && metadata.etag === reader.failedEtag)) later.append(reader);
      else this.#deliver(now, reader, metadata, sentAt);
    }
    this.#next(now, lookup, hash);
  }

  /** S3 said no, or nothing: so do we, but only to those who had asked before it was asked. */
  #fail(
    now: number,
    lookup: Lookup,
    fetch: Fetch,
    error: OriginError | null,
    isCut: boolean,
  ): void {
    const { sentAfter, hash } = fetch;
    if (error?.status === 404) this.#parts.metadata.drop(hash);
    this.#end(fetch, isCut);
    const { sharers, later } = lookup;
    for (let reader = sharers.shift(); reader !== null; reader = sharers.shift()) {
      if (reader.arrival <= sentAfter) answerFailure(this.#parts, reader, 'origin', error);
      else later.append(reader);
    }
    this.#next(now, lookup, hash);
  }

  /** The object can't be cached: its readers' requests are passed through. */
  #refuse(now: number, lookup: Lookup, fetch: Fetch): void {
    this.#parts.metadata.drop(fetch.hash);
    const { sharers } = lookup;
    for (let reader = sharers.shift(); reader !== null; reader = sharers.shift()) {
      answerFailure(this.#parts, reader, 'uncacheable', null);
    }
    this.#next(now, lookup, fetch.hash);
  }

  /** Answers with the metadata, and with the first bytes of the range if they are held or on their way. */
  #deliver(now: number, reader: Reader, metadata: ObjectMetadata, confirmedAt: number): void {
    const { layout, store, effects, counters, readers, verification } = this.#parts;
    reader.metadata = metadata;
    reader.confirmedAt = confirmedAt;
    reader.lifetimeMs = this.#lifetimeMs(reader.bucket);
    resolveRange(reader.range, metadata.size, this.#range);
    const { kind, first, last } = this.#range;
    if (reader.bodyLimit === 0 || kind === 'unsatisfiable' || first > last) {
      answerMetadata(this.#parts, now, reader);
      return;
    }
    const block = layout.blockOf(first);
    const blockStart = layout.blockStart(block);
    reader.first = first;
    reader.last = Math.min(last, first + reader.bodyLimit - 1, blockStart + layout.blockBytes - 1);
    reader.partLast = Math.min(last, layout.stretchEnd(metadata.size, first) - 1);
    copyHash128(metadata.version, reader.version);
    const slot = store.find(metadata.version, block);
    if (slot === NO_SLOT) {
      const segment = this.#fills.find(reader);
      if (segment === null) answerMetadata(this.#parts, now, reader);
      else this.#fills.join(now, segment, reader);
      return;
    }
    if (!store.isTrusted(slot)) {
      if (!verification.wait(slot, reader)) answerMetadata(this.#parts, now, reader);
      return;
    }
    const { asker, length, lifetimeMs } = reader;
    readers.release(reader);
    counters.readsFromDisk += 1;
    counters.bytesFromDisk += length;
    store.touch(slot);
    store.pin(slot);
    const age = now - confirmedAt;
    const offset = first - blockStart;
    effects.answerMetadataFromSlot(asker, metadata, age, lifetimeMs, first, slot, offset, length);
  }

  /** Gives a request's record back; `isCut` when S3 may still send something. */
  #end(fetch: Fetch, isCut: boolean): void {
    const { effects, fetches, counters } = this.#parts;
    if (isCut) {
      counters.cancelledFetches += 1;
      effects.cancelFetch(fetch.id);
    }
    this.#parts.handovers.ended(fetch);
    fetch.stream = 'over';
    fetches.release(fetch);
  }
}

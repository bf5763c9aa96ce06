/**
 * The body of an answer, piece by piece: asked for from the blocks' owners in parallel, ahead of what the client has
 * taken, and relayed in order.
 *
 * The window begins at a block, so a client that asks for much and reads nothing costs a block; it doubles each time the
 * client's kernel has taken all that was queued, up to `readAheadBytes`.
 *
 * A piece whose node fails goes to the next candidate, in the middle of its body too: the client sees one answer. A piece
 * is tried `maxAttempts` times in all.
 */
import { assert } from '../base/assert.ts';
import { copyHash128 } from '../base/hash.ts';
import type { ReadAnswer } from '../read.ts';
import { nobody, type ClientRead, type OutstandingRead } from './client-read.ts';
import type { GatewayCounters } from './counters.ts';
import type { GatewayEffects } from './effects.ts';
import type { Exchanges } from './exchanges.ts';
import type { GatewayLimits } from './limits.ts';
import type { OutstandingReads } from './outstanding-reads.ts';
import type { Planner } from './plan.ts';

export class Pieces {
  readonly #effects: GatewayEffects;
  readonly #planner: Planner;
  readonly #reads: OutstandingReads;
  readonly #exchanges: Exchanges;
  readonly #limits: GatewayLimits;
  readonly #counters: GatewayCounters;

  constructor(
    effects: GatewayEffects,
    planner: Planner,
    reads: OutstandingReads,
    exchanges: Exchanges,
    limits: GatewayLimits,
    counters: GatewayCounters,
  ) {
    this.#effects = effects;
    this.#planner = planner;
    this.#reads = reads;
    this.#exchanges = exchanges;
    this.#limits = limits;
    this.#counters = counters;
  }

  /** Version and range are known: asks for the first bytes. */
  begin(client: ClientRead): void {
    this.#place(client);
    this.#askAhead(client);
  }

  /** The same when the lookup brought the first bytes along: they are the first piece. */
  beginWith(client: ClientRead, lookup: OutstandingRead, length: number): void {
    this.#place(client);
    lookup.first = client.position;
    lookup.last = client.position + length - 1;
    client.pieces.append(lookup);
    client.askedTo += length;
    this.#reads.countUntaken(length);
    this.#relay(client, lookup);
    this.#askAhead(client);
  }

  /** Whether an owner's answer is exactly the bytes of the piece. */
  fits(piece: OutstandingRead, answer: ReadAnswer): boolean {
    return answer.kind === 'bytes' && answer.bodyLength === piece.last - piece.first + 1;
  }

  /** The owner's bytes are there: they go out when it is their turn. */
  answered(client: ClientRead, piece: OutstandingRead): void {
    this.#reads.answered(piece);
    if (client.pieces.first === piece) this.#relay(client, piece);
    else piece.stage = 'held';
  }

  /** All of a piece is queued for the client: the next one's turn. */
  queued(client: ClientRead, piece: OutstandingRead): void {
    const first = client.pieces.shift();
    assert(first === piece && piece.stage === 'relaying', 'pieces are queued in order');
    this.#advance(client, piece, piece.last - piece.first + 1);
    this.#reads.end(piece);
    if (client.position > client.range.last) {
      this.#exchanges.finish(client);
      return;
    }
    if (client.takingTo < 0) this.#awaitTaken(client);
    const next = client.pieces.first;
    if (next?.stage === 'held') this.#relay(client, next);
    this.#askAhead(client);
  }

  /** The client's kernel has taken what was queued when it was asked. */
  taken(client: ClientRead): void {
    assert(client.takingTo >= client.takenTo, 'what is taken was waited for');
    const wasLimited = client.askedTo - client.takenTo >= client.windowBytes;
    this.#reads.countUntaken(client.takenTo - client.takingTo);
    client.takenTo = client.takingTo;
    client.takingTo = -1;
    const { readAheadBytes } = this.#limits;
    if (wasLimited) client.windowBytes = Math.min(client.windowBytes * 2, readAheadBytes);
    if (client.position > client.takenTo) this.#awaitTaken(client);
    this.#askAhead(client);
  }

  /** The body broke off: its rest is asked for once more, elsewhere if there is an elsewhere. */
  broke(client: ClientRead, piece: OutstandingRead, queuedBytes: number): void {
    assert(
      client.pieces.first === piece && piece.stage === 'relaying',
      'only what is relayed breaks',
    );
    this.#advance(client, piece, queuedBytes);
    assert(piece.first <= piece.last, 'a piece that broke off misses bytes');
    if (queuedBytes > 0) this.#counters.resumed += 1;
    this.#askElsewhere(client, piece, true);
  }

  /** The node brought nothing. */
  failed(client: ClientRead, piece: OutstandingRead): void {
    this.#askElsewhere(client, piece, false);
  }

  /**
   * The node has no room for a piece. One that is ahead was asked for too early: it is taken back with all behind it, and
   * asked for again when its turn comes.
   */
  refused(client: ClientRead, piece: OutstandingRead): void {
    if (client.pieces.first === piece) {
      this.#askElsewhere(client, piece, true);
      return;
    }
    this.#reads.countUntaken(piece.first - client.askedTo);
    client.askedTo = piece.first;
    client.windowBytes = Math.min(this.#planner.blockBytes, this.#limits.readAheadBytes);
    for (let last = client.pieces.last; last !== piece; last = client.pieces.last) {
      assert(last !== null, 'a piece that is refused is one of its client’s');
      this.#effects.cancelRead(last.id);
      client.pieces.remove(last);
      this.#reads.end(last);
    }
    client.pieces.remove(piece);
    this.#reads.end(piece);
  }

  #place(client: ClientRead): void {
    const { first } = client.range;
    client.position = first;
    client.askedTo = first;
    client.takenTo = first;
    client.windowBytes = Math.min(this.#planner.blockBytes, this.#limits.readAheadBytes);
  }

  #askAhead(client: ClientRead): void {
    const { range } = client;
    while (client.askedTo <= range.last) {
      if (client.askedTo - client.takenTo >= client.windowBytes) return;
      const first = client.askedTo;
      const last = this.#planner.pieceLast(first, range.last);
      const length = last - first + 1;
      const isAhead = client.pieces.size > 0;
      const isUntaken = first > client.takenTo;
      if ((isAhead || isUntaken) && !this.#reads.hasRoomAhead(length)) return;
      const { asked, metadata } = client;
      assert(metadata !== null, 'pieces are asked for by version');
      const nodeId = this.#planner.owner(asked.hash, metadata.size, first);
      if (nodeId === null) {
        this.#exchanges.giveUp(client);
        return;
      }
      const piece = this.#reads.begin(client, nodeId, nobody, isAhead);
      piece.first = first;
      piece.last = last;
      client.pieces.append(piece);
      client.askedTo = last + 1;
      this.#reads.countUntaken(length);
      this.#send(client, piece);
    }
  }

  /** The next candidate for a piece; one that broke off may also come from where it came from. */
  #askElsewhere(client: ClientRead, piece: OutstandingRead, mayRepeat: boolean): void {
    const { asked, metadata } = client;
    assert(metadata !== null, 'pieces are asked for by version');
    const { first, last, isAhead } = piece;
    const tried = [...piece.tried, piece.nodeId];
    let nodeId: number | null = null;
    if (tried.length < this.#limits.maxAttempts) {
      nodeId = this.#planner.owner(asked.hash, metadata.size, first, tried);
      if (nodeId === null && mayRepeat) {
        nodeId = this.#planner.owner(asked.hash, metadata.size, first);
      }
    }
    if (nodeId === null) {
      client.pieces.remove(piece);
      this.#reads.end(piece);
      this.#exchanges.giveUp(client);
      return;
    }
    this.#counters.retries += 1;
    // Begun before the other ends, so that it is another record; both are within what one client may have.
    const next = this.#reads.begin(client, nodeId, tried, isAhead);
    next.first = first;
    next.last = last;
    client.pieces.replace(piece, next);
    this.#reads.end(piece);
    this.#send(client, next);
  }

  #send(client: ClientRead, piece: OutstandingRead): void {
    const { metadata, range } = client;
    assert(metadata !== null, 'pieces are asked for by version');
    const { request } = piece;
    request.kind = 'blocks';
    request.first = piece.first;
    request.last = piece.last;
    request.partLast = this.#planner.partLast(metadata.size, piece.first, range.last);
    copyHash128(metadata.version, request.version);
    request.etag = metadata.etag;
    request.size = metadata.size;
    request.standsIn = this.#planner.ownerIsReplaced(client.asked.hash, metadata.size, piece);
    this.#counters.pieces += 1;
    this.#effects.sendRead(piece.id, piece.nodeId, request);
  }

  #relay(client: ClientRead, piece: OutstandingRead): void {
    const { metadata, known, range, exchange, restarts } = client;
    assert(metadata !== null && known !== null, 'a body belongs to a version');
    piece.stage = 'relaying';
    if (!client.headSent) {
      client.headSent = true;
      const status = range.kind === 'part' ? 206 : 200;
      const length = range.last - range.first + 1;
      const { first } = range;
      this.#effects.answerHead(exchange, status, metadata, first, length, known, restarts);
    }
    this.#effects.relayBody(exchange, piece.id);
  }

  #advance(client: ClientRead, piece: OutstandingRead, bytes: number): void {
    this.#counters.bodyBytes += bytes;
    client.position += bytes;
    piece.first += bytes;
  }

  #awaitTaken(client: ClientRead): void {
    client.takingTo = client.position;
    this.#effects.awaitTaken(client.exchange);
  }
}

/**
 * A request's body on its way to undici: a Readable that is fed from outside.
 *
 * Bytes wait here and not in the stream's own buffer, so that giving up frees them at once: undici holds on to a request that waits
 * for a connection, also when nobody wants it any more, and thousands of those would each keep a full buffer.
 *
 * Each byte is copied once, into a block; full blocks are lent to the socket and used again once it has sent them (body-blocks.ts).
 * What says so is undici's way with a stream: it pauses it when the socket has enough, and resumes it when the socket has
 * given everything away. Whatever was handed out before a pause is therefore free at the resume that follows. A socket that
 * didn't ask for a pause costs blocks, which are then left to the garbage collector, never bytes.
 *
 * Memory: at most `maxQueuedBytes` and the one write that went past it, as long as the writer obeys `write`'s answer, and what
 * the socket holds: a block, or two.
 */
import { Readable } from 'node:stream';
import { blockBytes, giveBackBlock, takeBlock } from './body-blocks.ts';

const maxQueuedBytes = 256 * 1024;
/** More is asked for when so little is left. */
const roomyBytes = maxQueuedBytes / 2;
/** Less is copied once more, into memory of its own size: a slow client's few bytes shouldn't occupy a block. */
const minLentBytes = 64 * 1024;
/** A socket has at most so many at a time; one that keeps more doesn't pause, and so never says when it is done with them. */
const maxLentBlocks = 4;

/** Bytes that wait. */
interface Piece {
  readonly bytes: Buffer;
  used: number;
}

export class RequestBody extends Readable {
  readonly #onDrain: () => void;
  /** Bytes of the body that weren't written yet. */
  #missing: number;
  #queue: Piece[] = [];
  #queuedBytes = 0;
  #isFull = false;
  #isComplete = false;
  /** The stream asked for bytes when there were none. */
  #isWanted = false;
  #isScheduled = false;
  /** Blocks in the socket's hands, and how far the stream had come behind each. */
  readonly #lent: { readonly block: Buffer; readonly end: number }[] = [];
  #pushedBytes = 0;
  /** What the socket had been given when it asked for a pause. */
  #givenAtPause = 0;

  /** `length` bytes will be written in all. */
  constructor(length: number, onDrain: () => void) {
    // One piece at a time: what waits, waits in the queue.
    super({ highWaterMark: 1 });
    this.#missing = length;
    this.#onDrain = onDrain;
    // undici destroys it with the connection's error, which the exchange hears of by itself.
    this.on('error', () => undefined);
  }

  /** Copies the bytes. False: full, `onDrain` follows. */
  write(bytes: Uint8Array): boolean {
    if (bytes.length === 0 || this.destroyed) return !this.#isFull;
    for (let at = 0; at < bytes.length;) {
      const piece = this.#pieceWithRoom(bytes.length - at);
      const length = Math.min(piece.bytes.length - piece.used, bytes.length - at);
      piece.bytes.set(bytes.subarray(at, at + length), piece.used);
      piece.used += length;
      at += length;
    }
    this.#missing -= bytes.length;
    this.#queuedBytes += bytes.length;
    this.#isFull ||= this.#queuedBytes >= maxQueuedBytes;
    if (this.#isWanted) this.#giveSoon();
    return !this.#isFull;
  }

  end(): void {
    this.#isComplete = true;
    if (this.#isWanted) this.#giveSoon();
  }

  override pause(): this {
    this.#givenAtPause = this.#pushedBytes - this.readableLength;
    return super.pause();
  }

  override resume(): this {
    while (this.#lent.length > 0 && this.#lent[0]!.end <= this.#givenAtPause) {
      giveBackBlock(this.#lent.shift()!.block);
    }
    return super.resume();
  }

  override _read(): void {
    this.#isWanted = true;
    // Bytes that have come since are given at once, the first ones together with those that come in the same turn of the loop.
    if (this.#queue.length > 0 || this.#isComplete) this.#give();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    for (const { bytes } of this.#queue) if (bytes.length === blockBytes) giveBackBlock(bytes);
    this.#queue = [];
    this.#queuedBytes = 0;
    // Nobody knows what the socket still does with these.
    this.#lent.length = 0;
    callback(error);
  }

  #pieceWithRoom(wanted: number): Piece {
    const last = this.#queue.at(-1);
    if (last !== undefined && last.used < last.bytes.length) return last;
    const left = Math.max(wanted, this.#missing);
    const bytes = left < blockBytes ? Buffer.allocUnsafe(left) : takeBlock();
    const piece = { bytes, used: 0 };
    this.#queue.push(piece);
    return piece;
  }

  #giveSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#isWanted && !this.destroyed) this.#give();
    });
  }

  /** Answers the stream's wish for bytes. */
  #give(): void {
    const piece = this.#queue.shift();
    if (piece === undefined) {
      if (this.#isComplete) this.push(null);
      return;
    }
    this.#isWanted = false;
    this.#queuedBytes -= piece.used;
    this.#pushedBytes += piece.used;
    this.push(this.#asSent(piece));
    if (!this.#isFull || this.#queuedBytes > roomyBytes) return;
    this.#isFull = false;
    this.#onDrain();
  }

  /** The piece's bytes in memory that stays as it is until the socket has sent them. */
  #asSent({ bytes, used }: Piece): Buffer {
    const sent = bytes.subarray(0, used);
    const isBlock = bytes.length === blockBytes;
    if (used < (isBlock ? minLentBytes : bytes.length / 2)) {
      const copy = Buffer.from(sent);
      if (isBlock) giveBackBlock(bytes);
      return copy;
    }
    if (!isBlock) return sent;
    if (this.#lent.length === maxLentBlocks) this.#lent.shift();
    this.#lent.push({ block: bytes, end: this.#pushedBytes });
    return sent;
  }
}

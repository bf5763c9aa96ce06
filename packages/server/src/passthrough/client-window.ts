/** How far an answer's body may run ahead of a client: counts what its kernel hasn't taken yet, piece by piece. */

/** Bytes queued for a client before the origin is paused. */
const windowBytes = 1024 * 1024;

export class ClientWindow {
  readonly #sizes: number[] = [];
  #queued = 0;

  /** Counts a piece in. */
  queue(bytes: number): void {
    this.#sizes.push(bytes);
    this.#queued += bytes;
  }

  /** The oldest piece was taken. */
  taken(): void {
    this.#queued -= this.#sizes.shift() ?? 0;
  }

  get isFull(): boolean {
    return this.#queued >= windowBytes;
  }

  /** Room enough that it is worth waking the origin. */
  get isRoomy(): boolean {
    return this.#queued <= windowBytes / 2;
  }
}

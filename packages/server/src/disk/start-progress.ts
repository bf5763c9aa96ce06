/** Says every two seconds how far a start is with a long file: nobody is served meanwhile, and silence looks like a hang. */
export class StartProgress {
  readonly #say: (percent: number) => void;
  readonly #everyMs: number;
  #nextAt: number;

  constructor(say: (percent: number) => void, everyMs = 2000) {
    this.#say = say;
    this.#everyMs = everyMs;
    this.#nextAt = performance.now() + everyMs;
  }

  /** Call it after each piece: `done` of `all` bytes. */
  tell(done: number, all: number): void {
    if (performance.now() < this.#nextAt) return;
    this.#nextAt += this.#everyMs;
    this.#say(Math.floor((100 * done) / all));
  }
}

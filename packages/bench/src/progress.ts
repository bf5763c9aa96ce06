/** Says what is running, on standard error, so that standard output stays the report. */
export class Progress {
  readonly #started = performance.now();

  say(what: string): void {
    const seconds = ((performance.now() - this.#started) / 1000).toFixed(0).padStart(4);
    process.stderr.write(`${seconds} s  ${what}\n`);
  }
}

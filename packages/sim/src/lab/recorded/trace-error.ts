/** What is wrong with a recorded trace, and where: the operator's mistake, never a bug. */
export class TraceError extends Error {
  override readonly name = 'TraceError';

  /** `line` counts from 1; 0 when it isn't about a line. */
  constructor(path: string, line: number, what: string) {
    super(line === 0 ? `${path}: ${what}` : `${path}:${line}: ${what}`);
  }
}

/**
 * What is wrong with a configuration: collected, so that all of it is told at once.
 *
 * Problems keep the process from starting; warnings are logged. No line ever holds a secret's value.
 */

export interface Findings {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

export class Problems implements Findings {
  readonly problems: string[] = [];
  readonly warnings: string[] = [];

  /** Whether the setting at this path was a fault by itself. */
  hasAt(path: string): boolean {
    return this.problems.some(
      (line) => line.startsWith(`${path}:`) || line.startsWith(`${path} =`),
    );
  }

  add(line: string): void {
    this.problems.push(line);
  }

  warn(line: string): void {
    this.warnings.push(line);
  }
}

/** The configuration can't be used. `message` lists every problem, ready to be printed. */
export class ConfigError extends Error {
  readonly file: string;
  readonly problems: readonly string[];

  constructor(file: string, problems: readonly string[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super([`${file}: ${count}`, ...problems.map((line) => `  ${line}`)].join('\n'));
    this.name = 'ConfigError';
    this.file = file;
    this.problems = problems;
  }
}

/** What is wrong with a command line, for every program here: Node's own words go on to advise what no command needs. */

/** What Node says, and what is said here of the name in it. */
const sentences: readonly (readonly [pattern: RegExp, sentence: (name: string) => string])[] = [
  [/^Unknown option '(.+?)'(?:\. To |$)/s, (name) => `There is no option ${name}.`],
  [/^Unexpected argument '(.*)'\. This /s, (word) => `There is nothing to do with '${word}'.`],
  [/^Option '(?:-., )?(--[^ ']+).*' argument missing$/s, (name) => `${name} needs a value.`],
  [/^Option '(?:-., )?(--[^ ']+)' does not take/s, (name) => `${name} takes no value.`],
  [
    /^Option '.*' argument is ambiguous.* use '(--[^=]+)=/s,
    (name) => `${name} needs a value; one that begins with a dash is written ${name}=-….`,
  ],
];

/** In a sentence, if `parseArgs` threw it; else the error's own message. */
export function argumentError(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  const { message } = error;
  if (!(error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS_')) return message;
  for (const [pattern, sentence] of sentences) {
    const [, name] = pattern.exec(message) ?? [];
    if (name !== undefined) return sentence(name);
  }
  return `${message.split(/\.?\n|\. |\.$/)[0]!}.`;
}

/** Ends the process with 2, after what is wrong with its arguments and its usage. */
export function endWithUsage(error: unknown, usage: string): never {
  process.stderr.write(`${argumentError(error)}\n\n${usage}`);
  process.exit(2);
}

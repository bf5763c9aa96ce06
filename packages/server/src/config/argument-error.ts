/** What is wrong with a command line, in one line: Node's own words go on to advise what no command here needs. */
export function argumentError(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  return error.message.split(/\.?\n|\. /)[0]!;
}

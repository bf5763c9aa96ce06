/**
 * Headers as they travel between origin and client: name, value, name, value, … in their order and case, repeated names
 * included. Binary strings: one character for each byte.
 */

/** The value of the first header of that name (lower case), '' when there is none. */
export function headerValue(headers: readonly string[], name: string): string {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.toLowerCase() === name) return headers[i + 1]!;
  }
  return '';
}

/** All headers but those that are left out by their lower-case name. */
export function withoutHeaders(
  headers: readonly string[],
  isLeftOut: (name: string) => boolean,
): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (!isLeftOut(headers[i]!.toLowerCase())) kept.push(headers[i]!, headers[i + 1]!);
  }
  return kept;
}

/**
 * Assertions that stay on in production: a bug stops the process instead of serving wrong bytes.
 *
 * Messages are literals, so that a check costs one branch and no string is built on a hot path.
 */

/** A bug in this program: never caught, never an expected outcome. */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant';
}

/** Throws `BrokenInvariant` unless the condition holds. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new BrokenInvariant(message);
}

/**
 * A secret out of the configuration.
 *
 * It exists so that no secret reaches a log, an error or a dump by accident: whatever prints it shows
 * `(hidden)`, and only `reveal()`, easy to search for, gives the text.
 */
import { inspect } from 'node:util';

export const hidden = '(hidden)';

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    Object.freeze(this);
  }

  /** The secret itself. For signing and for checking signatures, never for a message. */
  reveal(): string {
    return this.#text;
  }

  equals(other: Secret): boolean {
    return this.#text === other.#text;
  }

  get length(): number {
    return this.#text.length;
  }

  toString(): string {
    return hidden;
  }

  toJSON(): string {
    return hidden;
  }

  [inspect.custom](): string {
    return hidden;
  }
}

/** Collects an origin's error answer: status, S3 code, headers and a bounded body. */
import type { OriginError } from '@s3-accelerator/core/read.ts';
import { headerLines } from './fetch-head.ts';

/** Longer bodies are cut: S3's errors are a few hundred bytes. */
const maxErrorBytes = 64 * 1024;

export class ErrorCollector {
  readonly #status: number;
  readonly #headers: readonly string[];
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  constructor(status: number, headers: readonly string[]) {
    this.#status = status;
    this.#headers = headers;
  }

  /** False once the body is as long as it may get. */
  push(bytes: Uint8Array): boolean {
    const taken = bytes.subarray(0, maxErrorBytes - this.#length);
    this.#parts.push(taken);
    this.#length += taken.length;
    return this.#length < maxErrorBytes;
  }

  get headers(): readonly string[] {
    return this.#headers;
  }

  get status(): number {
    return this.#status;
  }

  error(): OriginError {
    const body = Buffer.concat(this.#parts);
    return {
      status: this.#status,
      code: errorCode(body),
      headerLines: headerLines(this.#headers, true),
      body,
    };
  }
}

/** The `<Code>` of an S3 error document; '' when there is none. */
function errorCode(body: Buffer): string {
  const match = /<Error(?:\s[^>]*)?>[\s\S]*?<Code>\s*([A-Za-z0-9.]{1,64})\s*<\/Code>/.exec(
    body.toString('latin1', 0, 4096),
  );
  return match?.[1] ?? '';
}

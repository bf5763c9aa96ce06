/**
 * For origins that take no trailing checksums: forwards such a body without its framing.
 *
 * The checksum was verified by the gateway. A small body waits until its checksum is there and takes it along as a header,
 * which the origin stores; a larger one goes on as it comes and without. Memory: 1 MiB for each small upload in flight.
 */
import { headerValue, withoutHeaders } from '../http/raw-headers.ts';
import { unsignedPayload } from '../origin/origin-signer.ts';
import { withoutFraming } from './body-headers.ts';
import type { ForwardRequest, Forwarding } from './forward.ts';
import { TrailerUnframing } from './trailer-framing.ts';

/** Bodies up to this length are held for their checksum. */
const maxHeldBytes = 1024 * 1024;

export class TrailerRemoval implements Forwarding {
  readonly #request: ForwardRequest;
  readonly #open: (request: ForwardRequest) => Forwarding;
  readonly #length: number;
  readonly #trailer: string;
  readonly #unframing = new TrailerUnframing();
  readonly #held: Buffer[] = [];
  #inner: Forwarding | null = null;
  #aborted = false;

  /** `open` starts the request that goes on; its sink is the one that answers. */
  constructor(request: ForwardRequest, open: (request: ForwardRequest) => Forwarding) {
    this.#request = request;
    this.#open = open;
    this.#length = Number(headerValue(request.headers, 'x-amz-decoded-content-length'));
    this.#trailer = headerValue(request.headers, 'x-amz-trailer');
    if (this.#length > maxHeldBytes) this.#inner = open(this.#plain([]));
  }

  write(bytes: Uint8Array): boolean {
    if (this.#aborted) return true;
    let room = true;
    this.#unframing.push(bytes, (part) => {
      if (this.#inner === null) this.#held.push(Buffer.from(part));
      else room = this.#inner.write(part);
    });
    return room;
  }

  end(): void {
    if (this.#aborted) return;
    if (this.#inner === null) {
      this.#inner = this.#open(this.#plain([this.#trailer, this.#unframing.value]));
      for (const part of this.#held) this.#inner.write(part);
      this.#held.length = 0;
    }
    this.#inner.end();
  }

  abort(): void {
    this.#aborted = true;
    this.#held.length = 0;
    this.#inner?.abort();
  }

  pause(): void {
    this.#inner?.pause();
  }

  resume(): void {
    this.#inner?.resume();
  }

  #plain(checksum: readonly string[]): ForwardRequest {
    // The header announces a checksum, which only a held body brings.
    const headers = withoutHeaders(
      withoutFraming(this.#request.headers),
      (name) => name === 'x-amz-sdk-checksum-algorithm' && checksum.length === 0,
    );
    headers.push('x-amz-content-sha256', unsignedPayload, ...checksum);
    return { ...this.#request, headers, bodyLength: this.#length };
  }
}

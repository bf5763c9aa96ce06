/**
 * How the two ends of a new link come to trust each other; protocol/handshake.ts has the frames and what they prove.
 *
 * Both machines take one frame at a time and say what to send and whether the link is open, refused or still being
 * negotiated. They know no sockets and no clocks: `Link` drives them and keeps the deadline.
 *
 *     asking:     hello sent ── challenge ──▶ response sent ── ready ──▶ open
 *     answering:  (nothing)  ── hello ──▶ challenge sent ── response ──▶ ready sent, open
 *     either, at any frame that is wrong:  refused sent (unless the other end refused)  ──▶ refused
 *
 * MACs are compared in constant time. Nonces are fresh for each link.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FrameFault, FrameHeader } from '@s3-accelerator/protocol/frame.ts';
import {
  encodeBareFrame,
  frameHeaderBytes,
  FrameType,
  protocolVersion,
} from '@s3-accelerator/protocol/frame.ts';
import type {
  Hello,
  LinkPurpose,
  LinkRole,
  RefusalReason,
} from '@s3-accelerator/protocol/handshake.ts';
import {
  challengeBytes,
  decodeChallenge,
  decodeHello,
  decodeRefused,
  decodeResponse,
  encodeChallenge,
  encodeHello,
  encodeProof,
  encodeRefused,
  encodeResponse,
  helloBytes,
  nonceBytes,
  refusedBytes,
  responseBytes,
} from '@s3-accelerator/protocol/handshake.ts';

/** Longest payload of a handshake frame: an end that isn't known yet may not make us keep more. */
export const maxHandshakePayloadBytes = 256;

export interface HandshakeStep {
  /** To be sent; null when there is nothing to say. */
  readonly send: Uint8Array | null;
  readonly outcome: HandshakeOutcome;
}

export type HandshakeOutcome =
  | { readonly kind: 'going' }
  | { readonly kind: 'open'; readonly purpose: LinkPurpose }
  /** `by` says which end refused; `theirVersion` is 0 while unknown. */
  | {
      readonly kind: 'refused';
      readonly reason: RefusalReason;
      readonly by: 'us' | 'them';
      readonly theirVersion: number;
    };

export interface Handshake {
  /** What this end says first; null when it waits. */
  begin(): Uint8Array | null;
  /** One whole frame, payload [start, end). */
  onFrame(header: FrameHeader, bytes: Uint8Array, start: number, end: number): HandshakeStep;
}

const going: HandshakeOutcome = { kind: 'going' };

function prove(
  secret: Uint8Array,
  purpose: LinkPurpose,
  role: LinkRole,
  askingNonce: Uint8Array,
  answeringNonce: Uint8Array,
): Uint8Array {
  const proof = encodeProof(protocolVersion, purpose, role, askingNonce, answeringNonce);
  return createHmac('sha256', secret).update(proof).digest();
}

/** This end refuses, and says why to the other. */
function refuse(reason: RefusalReason, theirVersion = 0): HandshakeStep {
  const send = new Uint8Array(refusedBytes);
  encodeRefused(send, 0, { reason, version: protocolVersion });
  return { send, outcome: { kind: 'refused', reason, by: 'us', theirVersion } };
}

/** The other end refused. */
function refusedByThem(bytes: Uint8Array, start: number, end: number): HandshakeStep {
  const refusal = decodeRefused(bytes, start, end);
  if (typeof refusal === 'string') return refuse('malformed');
  const { reason, version } = refusal;
  return { send: null, outcome: { kind: 'refused', reason, by: 'them', theirVersion: version } };
}

/** The frame that tells an end which was never greeted that there is no room for it. */
export function fullRefusal(): Uint8Array {
  const send = new Uint8Array(refusedBytes);
  encodeRefused(send, 0, { reason: 'full', version: protocolVersion });
  return send;
}

/** The end that connected. */
export class AskingHandshake implements Handshake {
  readonly #secret: Uint8Array;
  readonly #purpose: LinkPurpose;
  readonly #nonce: Uint8Array = randomBytes(nonceBytes);
  #responded = false;

  constructor(secret: Uint8Array, purpose: LinkPurpose) {
    this.#secret = secret;
    this.#purpose = purpose;
  }

  begin(): Uint8Array {
    const send = new Uint8Array(helloBytes);
    const hello = { version: protocolVersion, purpose: this.#purpose, nonce: this.#nonce };
    encodeHello(send, 0, hello);
    return send;
  }

  onFrame(header: FrameHeader, bytes: Uint8Array, start: number, end: number): HandshakeStep {
    if (header.bodyLength !== 0) return refuse('malformed');
    if (header.type === FrameType.refused) return refusedByThem(bytes, start, end);
    if (header.type === FrameType.challenge && !this.#responded) {
      return this.#respond(bytes, start, end);
    }
    if (header.type === FrameType.ready && this.#responded && start === end) {
      return { send: null, outcome: { kind: 'open', purpose: this.#purpose } };
    }
    return refuse('malformed');
  }

  #respond(bytes: Uint8Array, start: number, end: number): HandshakeStep {
    const challenge = decodeChallenge(bytes, start, end);
    if (typeof challenge === 'string') return refuse('malformed');
    if (challenge.version !== protocolVersion) return refuse('version', challenge.version);
    const nonces = [this.#nonce, challenge.nonce] as const;
    const expected = prove(this.#secret, this.#purpose, 'answering', ...nonces);
    if (!timingSafeEqual(expected, challenge.mac)) return refuse('secret', challenge.version);
    this.#responded = true;
    const send = new Uint8Array(responseBytes);
    encodeResponse(send, 0, prove(this.#secret, this.#purpose, 'asking', ...nonces));
    return { send, outcome: going };
  }
}

/** The end that was connected to. */
export class AnsweringHandshake implements Handshake {
  readonly #secret: Uint8Array;
  readonly #nonce: Uint8Array = randomBytes(nonceBytes);
  #hello: Hello | null = null;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  begin(): null {
    return null;
  }

  onFrame(header: FrameHeader, bytes: Uint8Array, start: number, end: number): HandshakeStep {
    if (header.bodyLength !== 0) return refuse('malformed');
    if (header.type === FrameType.refused) return refusedByThem(bytes, start, end);
    if (header.type === FrameType.hello && this.#hello === null) {
      return this.#challenge(decodeHello(bytes, start, end));
    }
    if (header.type === FrameType.response && this.#hello !== null) {
      return this.#check(this.#hello, decodeResponse(bytes, start, end));
    }
    return refuse('malformed');
  }

  #challenge(hello: Hello | FrameFault): HandshakeStep {
    if (typeof hello === 'string') return refuse('malformed');
    if (hello.version !== protocolVersion) return refuse('version', hello.version);
    this.#hello = hello;
    const send = new Uint8Array(challengeBytes);
    const mac = prove(this.#secret, hello.purpose, 'answering', hello.nonce, this.#nonce);
    encodeChallenge(send, 0, { version: protocolVersion, nonce: this.#nonce, mac });
    return { send, outcome: going };
  }

  #check(hello: Hello, mac: Uint8Array | FrameFault): HandshakeStep {
    if (typeof mac === 'string') return refuse('malformed');
    const expected = prove(this.#secret, hello.purpose, 'asking', hello.nonce, this.#nonce);
    if (!timingSafeEqual(expected, mac)) return refuse('secret', hello.version);
    const send = new Uint8Array(frameHeaderBytes);
    encodeBareFrame(send, 0, FrameType.ready, 0);
    return { send, outcome: { kind: 'open', purpose: hello.purpose } };
  }
}

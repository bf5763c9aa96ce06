/**
 * One connection between two processes of the cluster: handshake, frames, liveness, and its end.
 *
 *     connecting ── connected ──▶ greeting ── trusted ──▶ serving ──▶ lost
 *          └───── refused, late, reset, closed ─┴──────────────────────┘
 *
 * A link cuts what arrives into frames and hands them to its `LinkUser`. Payloads are always whole. Bodies are whole where
 * `wholeBodyBytes` says so (many small answers on one link); elsewhere they are moved as they come: during `onFrame` the user
 * may send the body on with `relayBody`, and otherwise gets its pieces by `onBody`. All bytes stand in the reactor's input
 * arena and are valid during the call.
 *
 * Invariants: nothing but handshake frames is taken before both ends trust each other; `onLost` comes exactly once and
 * nothing after it; a frame that breaks the protocol ends the link.
 */
import { getSystemErrorName } from 'node:util';
import { Arena, CommandFlag } from '@s3-accelerator/native/native.ts';
import type { ConnectionId, ConnectionOwner } from '@s3-accelerator/native/reactor.ts';
import { ReactorError } from '@s3-accelerator/native/reactor.ts';
import type { FrameFault, FrameHeader } from '@s3-accelerator/protocol/frame.ts';
import {
  decodeFrameHeader,
  encodeBareFrame,
  frameHeaderBytes,
  FrameType,
  maxPayloadBytes,
  newFrameHeader,
  protocolVersion,
} from '@s3-accelerator/protocol/frame.ts';
import type { LinkPurpose } from '@s3-accelerator/protocol/handshake.ts';
import type { Handshake, HandshakeOutcome } from './link-handshake.ts';
import { maxHandshakePayloadBytes } from './link-handshake.ts';
import type { LinkContext } from './link-context.ts';

/** What is left of a body below this is copied to its target: a pipe would cost more than it saves. */
const copiedRelayBytes = 16 * 1024;

/** Who uses a link. Called from the reactor's batches only. */
export interface LinkUser {
  /** Both ends trust each other: the link serves. */
  onOpen(link: Link, purpose: LinkPurpose): void;
  /** One frame: payload [start, end) of the input arena; a whole body stands right behind it. */
  onFrame(link: Link, header: FrameHeader, start: number, end: number): void;
  /** Bytes of the last frame's body; `link.bodyRemaining` says how many more there are. */
  onBody(link: Link, start: number, length: number): void;
  /** The other end answered a ping, or says that it has another ring now: see `ringMark`. */
  onPong?(): void;
  /** A token that the user gave to the reactor with bytes for this link. */
  onSent(link: Link, token: number, errno: number): void;
  onRelayed(link: Link, token: number, status: number, missing: number): void;
  /** The link is gone: nothing follows but tokens. */
  onLost(link: Link): void;
}

type LinkStage = 'connecting' | 'greeting' | 'serving' | 'lost';

export class Link implements ConnectionOwner {
  readonly context: LinkContext;
  user: LinkUser;
  /** 0: bodies are moved. Otherwise frames wait until their bodies, of at most this many bytes, are whole. */
  wholeBodyBytes = 0;
  /** Bytes of the current body that haven't been taken. */
  bodyRemaining = 0;
  /** Set whenever bytes arrive; whoever watches for silence clears it. */
  heard = false;
  /** The mark of the ring that the other end last said it has; 0 before it said anything. */
  ringMark = 0;
  /** It ended because the handshake took too long: the other end's machine answers, its process doesn't. */
  isLate = false;

  readonly #handshake: Handshake;
  readonly #header = newFrameHeader();
  #stage: LinkStage = 'connecting';
  #id: ConnectionId;
  #peer = '';
  /** What a fault's name ends with: each node's faults are logged apart, those of strangers together. */
  #faultOf = '';
  #headsOnly = false;
  #receiveLimit = 0;
  #arrivedStart = 0;
  #arrivedLength = 0;
  #handshakeTimer: ReturnType<typeof setTimeout> | null = null;

  private constructor(context: LinkContext, handshake: Handshake, user: LinkUser) {
    this.context = context;
    this.user = user;
    this.#handshake = handshake;
    this.#id = 0 as ConnectionId;
  }

  /** Connects to a numeric address and greets. The end of it is `onOpen` or `onLost`, never during this call. */
  static ask(
    context: LinkContext,
    host: string,
    port: number,
    handshake: Handshake,
    user: LinkUser,
  ): Link {
    const link = new Link(context, handshake, user);
    link.#peer = `${host}:${port}`;
    link.#faultOf = ` ${link.#peer}`;
    link.#startHandshakeTimer();
    try {
      link.#id = context.reactor.connect(host, port, link);
    } catch (error) {
      if (!(error instanceof ReactorError)) throw error;
      context.faults.warn(`link-connect${link.#faultOf}`, error.message, { peer: link.#peer });
      queueMicrotask(() => {
        link.#leave();
      });
    }
    return link;
  }

  /** Takes over a connection that was accepted, and waits to be greeted. */
  static answer(
    context: LinkContext,
    id: ConnectionId,
    handshake: Handshake,
    user: LinkUser,
  ): Link {
    const link = new Link(context, handshake, user);
    link.#id = id;
    link.#peer = context.reactor.peerAddress(id);
    link.#startHandshakeTimer();
    link.#greet();
    return link;
  }

  get id(): ConnectionId {
    return this.#id;
  }

  /** Address and port of the other end, for logs. */
  get peer(): string {
    return this.#peer;
  }

  get serving(): boolean {
    return this.#stage === 'serving';
  }

  get lost(): boolean {
    return this.#stage === 'lost';
  }

  /**
   * From now on one receive takes a frame's header and no more, so that a body behind it stays in the kernel; payloads
   * are still read in one go.
   */
  receiveHeadsOnly(): void {
    this.#headsOnly = true;
    this.#receiveUpTo(frameHeaderBytes);
  }

  /** The opposite: for bodies that are read into memory. */
  receiveFreely(): void {
    this.#headsOnly = false;
    this.#receiveUpTo(0);
  }

  #receiveUpTo(bytes: number): void {
    if (this.#receiveLimit === bytes) return;
    this.#receiveLimit = bytes;
    this.context.reactor.receiveLimit(this.#id, bytes);
  }

  /** Sends a frame that is nothing but its header. */
  sendBareFrame(type: number, requestId: number, ringMark = 0): void {
    const { reactor } = this.context;
    const at = reactor.reserve(frameHeaderBytes);
    encodeBareFrame(reactor.output, at, type, requestId, ringMark);
    reactor.commit(frameHeaderBytes);
    reactor.write(this.#id, Arena.output, at, frameHeaderBytes);
  }

  /** Sends bytes that were encoded elsewhere; they are copied during the call. */
  sendBytes(bytes: Uint8Array): void {
    this.context.reactor.writeBytes(this.#id, bytes);
  }

  /**
   * Sends the rest of the current body on to another connection: what has arrived at once, the rest as it comes. A `onRelayed`
   * with the token follows unless everything had arrived already; returns whether it will.
   */
  relayBody(target: ConnectionId, token: number): boolean {
    const { reactor } = this.context;
    if (this.#arrivedLength > 0) {
      reactor.write(target, Arena.input, this.#arrivedStart, this.#arrivedLength);
      this.bodyRemaining -= this.#arrivedLength;
      this.#arrivedLength = 0;
    }
    return this.#relayRest(target, token);
  }

  /** Reads the rest of the current body and drops it; `onRelayed` follows when this returns true. */
  dropBody(token: number): boolean {
    this.bodyRemaining -= this.#arrivedLength;
    this.#arrivedLength = 0;
    return this.#relayRest(0 as ConnectionId, token);
  }

  #relayRest(target: ConnectionId, token: number): boolean {
    const rest = this.bodyRemaining;
    if (rest === 0) return false;
    // One answer at a time: the node is silent until it is asked again.
    const flags = CommandFlag.quiet | (rest < copiedRelayBytes ? CommandFlag.copy : 0);
    this.context.reactor.relay(this.#id, target, rest, token, flags);
    this.bodyRemaining = 0;
    return true;
  }

  /** Ends the link at once, with a reset; its user hears `onLost` during the call. */
  lose(): void {
    if (this.#stage === 'lost') return;
    this.context.reactor.reset(this.#id);
    this.#leave();
  }

  /** Ends the link after everything that is queued was sent; its user hears `onLost` during the call. */
  end(): void {
    if (this.#stage === 'lost') return;
    this.context.reactor.close(this.#id);
    this.#leave();
  }

  /** Ends the link because the other end broke the protocol, and says so in the log. */
  breakOff(fault: FrameFault | 'unasked' | 'mismatch'): void {
    if (this.#stage === 'lost') return;
    this.context.faults.error(
      `link-protocol${this.#faultOf}`,
      `link to ${this.#peer} ended: it sent a frame that breaks the protocol (${fault})`,
      { peer: this.#peer, type: this.#header.type },
    );
    this.lose();
  }

  // — what the reactor says

  onConnected(_id: ConnectionId, errno: number): void {
    if (this.#stage !== 'connecting') return;
    if (errno === 0) {
      this.#greet();
      return;
    }
    const why = getSystemErrorName(-errno);
    this.context.faults.warn(`link-connect${this.#faultOf}`, `no link to ${this.#peer}: ${why}`, {
      peer: this.#peer,
    });
    this.#leave();
  }

  onReceived(_id: ConnectionId, start: number, length: number): void {
    if (this.#stage === 'lost') return;
    this.heard = true;
    const end = start + length;
    let at = start;
    if (this.bodyRemaining > 0) at = this.#passBody(at, end);
    at = this.#passFrames(at, end);
    if (at === end || this.lost) return;
    this.context.reactor.retain(this.#id, at, end - at);
    // A head with a payload: the rest of it shouldn't come in sixteens.
    if (this.#headsOnly && end - at >= frameHeaderBytes) this.#receiveUpTo(0);
  }

  onEnded(): void {
    this.lose();
  }

  onClosed(): void {
    this.#leave();
  }

  onSent(_id: ConnectionId, token: number, errno: number): void {
    this.user.onSent(this, token, errno);
  }

  onRelayed(_id: ConnectionId, token: number, status: number, missing: number): void {
    this.user.onRelayed(this, token, status, missing);
  }

  // — frames

  /** Hands on whole frames from `at`; returns where the first incomplete one starts. */
  #passFrames(start: number, end: number): number {
    const { input } = this.context.reactor;
    const header = this.#header;
    let at = start;
    while (end - at >= frameHeaderBytes && !this.lost) {
      const fault = decodeFrameHeader(input, at, header) ?? this.#overLimit(header);
      if (fault !== null) {
        this.#refuseFrame(fault);
        return end;
      }
      const payloadStart = at + frameHeaderBytes;
      const payloadEnd = payloadStart + header.payloadLength;
      const frameEnd = this.wholeBodyBytes > 0 ? payloadEnd + header.bodyLength : payloadEnd;
      if (frameEnd > end) break;
      at = frameEnd;
      if (this.#headsOnly) this.#receiveUpTo(frameHeaderBytes);
      if (header.ringMark !== 0) this.ringMark = header.ringMark;
      if (this.#stage !== 'serving') this.#passGreeting(payloadStart, payloadEnd);
      else if (header.type === FrameType.ping) this.#pong();
      else if (header.type === FrameType.pong) this.user.onPong?.();
      else at = this.#passFrame(payloadStart, payloadEnd, end);
    }
    return at;
  }

  #pong(): void {
    this.sendBareFrame(FrameType.pong, 0, this.context.ring.mark);
  }

  /** Hands on one frame, and what has arrived of a body that isn't whole; returns where the next bytes start. */
  #passFrame(payloadStart: number, payloadEnd: number, end: number): number {
    const header = this.#header;
    const { bodyLength } = header;
    if (this.wholeBodyBytes > 0 || bodyLength === 0) {
      this.user.onFrame(this, header, payloadStart, payloadEnd);
      return payloadEnd + bodyLength;
    }
    const arrived = Math.min(bodyLength, end - payloadEnd);
    this.bodyRemaining = bodyLength;
    this.#arrivedStart = payloadEnd;
    this.#arrivedLength = arrived;
    this.user.onFrame(this, header, payloadStart, payloadEnd);
    const untaken = this.#arrivedLength;
    this.#arrivedLength = 0;
    if (untaken > 0 && !this.lost) {
      this.bodyRemaining -= untaken;
      this.user.onBody(this, payloadEnd, untaken);
    }
    return payloadEnd + arrived;
  }

  #passBody(start: number, end: number): number {
    const length = Math.min(this.bodyRemaining, end - start);
    this.bodyRemaining -= length;
    this.user.onBody(this, start, length);
    return start + length;
  }

  #overLimit(header: FrameHeader): FrameFault | null {
    const serving = this.#stage === 'serving';
    const longestPayload = serving ? maxPayloadBytes : maxHandshakePayloadBytes;
    if (header.payloadLength > longestPayload) return 'limit';
    const whole = this.wholeBodyBytes > 0;
    return whole && header.bodyLength > this.wholeBodyBytes ? 'limit' : null;
  }

  // — the handshake

  #startHandshakeTimer(): void {
    const { handshakeMs } = this.context.options;
    this.#handshakeTimer = setTimeout(() => {
      this.context.faults.warn(
        `link-handshake-late${this.#faultOf}`,
        `link to ${this.#peer} ended: no handshake within ${handshakeMs} ms`,
        { peer: this.#peer },
      );
      this.isLate = true;
      this.lose();
    }, handshakeMs);
  }

  #greet(): void {
    this.#stage = 'greeting';
    this.context.setTimers(this.#id);
    const hello = this.#handshake.begin();
    if (hello !== null) this.sendBytes(hello);
  }

  #passGreeting(start: number, end: number): void {
    const { input } = this.context.reactor;
    const { send, outcome } = this.#handshake.onFrame(this.#header, input, start, end);
    if (send !== null) this.sendBytes(send);
    if (outcome.kind === 'refused') {
      this.#refuse(outcome);
    } else if (outcome.kind === 'open') {
      this.#stage = 'serving';
      this.#stopHandshakeTimer();
      this.user.onOpen(this, outcome.purpose);
    }
  }

  /** A frame whose header makes no sense. Before the handshake that is a stranger, not a peer. */
  #refuseFrame(fault: FrameFault): void {
    if (this.#stage === 'serving') {
      this.breakOff(fault);
    } else {
      this.#refuse({ kind: 'refused', reason: 'malformed', by: 'us', theirVersion: 0 });
    }
  }

  #refuse(refusal: Extract<HandshakeOutcome, { kind: 'refused' }>): void {
    this.context.faults.error(
      `link-${refusal.reason}${this.#faultOf}`,
      refusalMessage(this.#peer, refusal),
      {
        peer: this.#peer,
      },
    );
    // Not at once: the refusal that was just sent should arrive.
    this.end();
  }

  #stopHandshakeTimer(): void {
    if (this.#handshakeTimer !== null) clearTimeout(this.#handshakeTimer);
    this.#handshakeTimer = null;
  }

  #leave(): void {
    if (this.#stage === 'lost') return;
    this.#stage = 'lost';
    this.#stopHandshakeTimer();
    this.user.onLost(this);
  }
}

/** What an operator needs to know about a link that wasn't made. */
function refusalMessage(
  peer: string,
  refusal: Extract<HandshakeOutcome, { kind: 'refused' }>,
): string {
  const { reason, by, theirVersion } = refusal;
  const whose = by === 'us' ? 'refused by this process' : 'refused by the other one';
  switch (reason) {
    case 'secret':
      return `link with ${peer} ${whose}: the two hold different cluster secrets`;
    case 'version':
      return `link with ${peer} ${whose}: it speaks protocol version ${theirVersion}, this process ${protocolVersion}`;
    case 'full':
      return `link with ${peer} ${whose}: it has as many links as it may have`;
    case 'malformed':
      return `connection with ${peer} ${whose}: what came is no link's handshake`;
  }
}

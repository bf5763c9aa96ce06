/**
 * The whole interface of the native addon, and the only place that declares it.
 *
 * The addon is a batched socket reactor. It owns an epoll descriptor that libuv polls; on a wake-up it
 * accepts and receives into the shared input arena, writes a batch of events into a typed array and calls
 * TypeScript once. TypeScript appends commands to another typed array and counts them in that array's first
 * word; the addon executes them, coalescing writes for each connection, and finishes on EPOLLOUT whatever
 * would block.
 * Payload bytes of hits never enter JavaScript. C++ decides nothing: every choice (copy or sendfile, splice or
 * copy, which descriptor, which deadline) is an argument.
 *
 * Use it through `Reactor` in reactor.ts, `Digester` in digester.ts and `files.ts`, never directly.
 *
 * Conventions: `null`, never `undefined`, across the boundary; flat typed arrays; errors of system calls are
 * returned as positive errno numbers, 0 is success; a bad argument (out of bounds, unknown option) throws.
 */
import { createRequire } from 'node:module';

/** Int32 words an event takes: type, connection, a, b, c, d. */
export const eventStride = 6;

/**
 * Int32 words a command takes; unused ones are ignored. The array's first row is no command: its first word counts
 * the rows behind it. It is shared rather than returned, so that commands from microtasks that run between the return
 * of a batch and its execution are part of it. The addon sets it to 0 when it executes.
 */
export const commandStride = 10;

/**
 * What an event says. `connection` is an id with a generation, so a late event resolves to nothing.
 *
 * | type | connection | a | b | c | d |
 * | accepted | the new one | its listener | | | |
 * | connected | the one that was connecting | errno, 0 when it worked | | | |
 * | received | it | offset in the input arena | length | | |
 * | ended | it: its peer sent FIN; it can still be written to | | | | |
 * | closed | it: the id is dead after this event; every connection ends with one | CloseReason | errno | | |
 * | relayed | the source, free again | token | RelayStatus | bytes that did not come, low | high |
 * | sent | the connection written to | token | errno: 0, every byte before it was taken by the kernel | | |
 * | disk | 0 | token | errno | bytes transferred | CRC32C of what was to be checked, as an int32 |
 *
 * A connection that could not be made gives `connected` with the errno and then `closed`.
 *
 * Every token handed in with a command comes back exactly once, also when the connection dies first (then with
 * errno ECANCELED or the error), so nothing that waits for one can leak. It comes before `closed`, except for
 * commands that were appended in the very batch that delivers `closed` or later. When the reactor itself is closed
 * nothing comes back any more.
 */
export const EventType = {
  accepted: 1,
  connected: 2,
  received: 3,
  ended: 4,
  closed: 5,
  relayed: 6,
  sent: 7,
  disk: 8,
} as const;

export const CloseReason = {
  /** The `close` command was carried out: everything was sent, or the connection was reset as asked. */
  asked: 0,
  /** A reset, or an error of a system call: errno is in `b`. */
  error: 1,
  /** The connection's deadline passed without a byte moving in either direction. */
  idle: 2,
  /** A file range could not be read after a part of its answer had been sent: the answer was cut short. */
  file: 3,
} as const;

export const RelayStatus = {
  complete: 0,
  /** The source ended or failed: `c`, `d` say how many bytes are missing. */
  sourceGone: 1,
  /** The target went away: `c`, `d` say how many bytes of the relay are still to come from the source. */
  targetGone: 2,
} as const;

/**
 * What a command does. Fields follow the two common ones (type, connection).
 *
 * | type | fields |
 * | write | arena, offset, length, token, flags |
 * | sendFile | head offset (output arena), head length, descriptor, file offset low, high, length, token, flags |
 * | relay | target (0 discards), length low, high, token, flags |
 * | retain | offset, length in the input arena: put before the next received bytes |
 * | mark | token, flags: a `sent` event once everything queued so far was taken (not what stepped aside) |
 * | pause / resume | stop or go on receiving (back-pressure on uploads) |
 * | shutdown | half-close after everything queued was sent |
 * | close | flags: 0 after everything queued was sent (what the peer still sends is dropped), 1 at once with a reset |
 * | deadline | milliseconds without progress after which the connection is closed; 0 never |
 * | receiveLimit | bytes that one call may receive on it; 0: the reactor's `receiveBytes` |
 *
 * A relay counts bytes that arrive after those already delivered in `received`: the caller passes those on itself.
 * It has its place in the target's queue from the moment of the command on. Its source is never held up by a target
 * that isn't reading as long as it is at most 1 MiB long; a longer one keeps up to 256 KiB in memory and waits. After `targetGone` the
 * source receives nothing until TypeScript has seen that: relay the missing bytes to 0, or close it.
 *
 * A token of 0 asks for no event.
 */
export const CommandType = {
  write: 1,
  sendFile: 2,
  relay: 3,
  retain: 4,
  mark: 5,
  pause: 6,
  resume: 7,
  shutdown: 8,
  close: 9,
  deadline: 10,
  receiveLimit: 11,
} as const;

/** Memory that `write` takes bytes from. What a socket doesn't take at once is copied: the caller may reuse it. */
export const Arena = {
  /** The output arena, free again once the batch was executed. */
  output: 0,
  /** The input arena, free again once the batch was executed. */
  input: 1,
  /** Memory registered with `registerFillMemory`. */
  fill: 2,
} as const;

export const CommandFlag = {
  /**
   * sendFile: read the bytes and send head and body with one call, instead of sendfile. A range that can't be read, or
   * ends early (EIO), closes the connection with `file`: what follows it in order would be taken for its bytes. relay:
   * recv and send.
   */
  copy: 1,
  /**
   * sendFile with copy: a range that isn't in the page cache steps aside: later commands on this connection go
   * first, and head and body follow in one piece once a worker thread has read them. A range that can't be read gives
   * `sent` with the errno and not a byte of the answer; past the first 256 KiB the connection is closed all the same. For
   * multiplexed links.
   */
  deferrable: 2,
  /** Deliver the `sent` event in a call of its own if need be; otherwise it waits for the next batch (≤ 5 ms). */
  eager: 4,
  /**
   * relay: the source sends nothing after these bytes until it is sent something, so receiving stops with them: it saves the
   * call that would find nothing. What comes all the same waits for what comes next.
   */
  quiet: 8,
} as const;

/** Positions in the array that `stats` fills. All count from the reactor's creation, the last three are levels. */
export const Stat = {
  rounds: 0,
  batches: 1,
  events: 2,
  commands: 3,
  receives: 4,
  sends: 5,
  sendFiles: 6,
  splices: 7,
  fileReads: 8,
  coldReads: 9,
  wouldBlock: 10,
  copiedBytes: 11,
  diskWrites: 12,
  refused: 13,
  connections: 14,
  pipes: 15,
  queuedBytes: 16,
} as const;
export const statCount = 17;

export interface ReactorLimits {
  /** Open connections; further ones are accepted, reset at once and counted in `refused`. */
  readonly maxConnections: number;
  /** Bytes received at most by one call on a connection. */
  readonly receiveBytes: number;
  /** Pipes for splice; a relay that finds none copies. */
  readonly maxPipes: number;
  /** Bytes a pipe is asked to hold. */
  readonly pipeBytes: number;
  /** Turns of receive-call-execute before the loop goes back to libuv. */
  readonly maxRounds: number;
  /** Threads that read cold file ranges. */
  readonly readThreads: number;
  /** Threads that write slots. */
  readonly writeThreads: number;
  /** Threads that make files durable: one for each file that is synced at a time. */
  readonly syncThreads: number;
}

export interface NativeReactor {
  /** Listens with SO_REUSEADDR and SO_REUSEPORT. `host` is numeric. Returns a listener id, or -errno. */
  listen(host: string, port: number, backlog: number): number;
  /** The port that a listener got. */
  localPort(listener: number): number;
  /** Stops listening at once; connections live on. */
  stopListening(listener: number): void;
  /** Starts connecting to a numeric address. Returns a connection id, or -errno. */
  connect(host: string, port: number): number;
  /** Numeric address and port of the peer, '' when the connection is gone. */
  peerAddress(connection: number): string;
  /**
   * Executes the commands now: outside of a batch, or inside one when the command buffer or the output arena is full.
   * A command that no correct caller can write (out of bounds, unknown) throws and names itself; in a batch it is
   * raised as an uncaught exception.
   */
  submit(): void;
  /** TCP_RTO_MIN_US (45) and TCP_DELACK_MAX_US (46), 0 leaves one alone. Returns errno. */
  setTcpTimers(connection: number, rtoMinUs: number, delackMaxUs: number): number;
  /** SO_SNDBUF and SO_RCVBUF in bytes, 0 leaves one alone. Returns errno. */
  setBuffers(connection: number, sendBytes: number, receiveBytes: number): number;
  registerFillMemory(memory: Uint8Array): void;
  /**
   * On a writer thread: writes `length` bytes of the fill memory to a descriptor that was opened with O_DIRECT; offset,
   * length and memory must be multiples of 4096. A `disk` event with the token follows, and with the checksum of the
   * first `checked` bytes. Never makes the file longer: EIO.
   */
  writeFile(
    descriptor: number,
    fileOffset: number,
    start: number,
    length: number,
    checked: number,
    token: number,
  ): void;
  /** On a reader thread: reads into the fill memory. A `disk` event with the token follows; EIO when the file is short. */
  readFile(
    descriptor: number,
    fileOffset: number,
    start: number,
    length: number,
    token: number,
  ): void;
  /**
   * On a reader thread: reads whole pages of the file from an offset that is a multiple of 4096. A `disk` event with the
   * token and the checksum of the first `length` bytes follows; EIO when the file ends before those pages do.
   */
  checksumFile(descriptor: number, fileOffset: number, length: number, token: number): void;
  /** On a sync thread: posix_fallocate from 0. A `disk` event with the token follows. */
  allocateFile(descriptor: number, bytes: number, token: number): void;
  /** On a sync thread: fdatasync. A `disk` event with the token follows. */
  syncFile(descriptor: number, token: number): void;
  /**
   * On a sync thread: writes pieces of `bytes` in order, one behind the other in the bytes, then fdatasync. `pieces` has
   * pairs of file offset and length. The bytes are copied during the call. A `disk` event with the token follows.
   */
  writePieces(descriptor: number, bytes: Uint8Array, pieces: Float64Array, token: number): void;
  stats(into: Float64Array): void;
  /** Closes every connection and listener, joins the threads, frees the loop. */
  close(): void;
}

export interface NativeDigester {
  /** Keeps the HMAC-SHA256 state of a key under a small number. */
  setKey(slot: number, key: Uint8Array): void;
  /** Writes SHA-256 of scratch[start, end) to scratch[out, out + 32). */
  sha256(start: number, end: number, out: number): void;
  /** Writes HMAC-SHA256 with the slot's key of scratch[start, end) to scratch[out, out + 32). */
  hmac(slot: number, start: number, end: number, out: number): void;
  /**
   * One SigV4 check. Appends the hex SHA-256 of the canonical request scratch[canonicalStart, canonicalEnd) to the
   * string to sign's beginning scratch[prefixStart, prefixEnd), and compares the hex HMAC of that with the 64 bytes
   * at scratch[signature], in constant time.
   */
  verifySigV4(
    slot: number,
    canonicalStart: number,
    canonicalEnd: number,
    prefixStart: number,
    prefixEnd: number,
    signature: number,
  ): boolean;
}

export interface NativeAddon {
  createReactor(
    onBatch: (eventCount: number) => void,
    input: Uint8Array,
    output: Uint8Array,
    events: Int32Array,
    commands: Int32Array,
    limits: ReactorLimits,
  ): NativeReactor;
  /** `scratch` is shared: the caller writes what is to be digested into it. */
  createDigester(scratch: Uint8Array): NativeDigester;
  /**
   * Zeroed memory whose address is a multiple of `alignment`, a power of two from 4096 to 1 GiB. With `hugePages` the kernel is asked for them
   * (MADV_HUGEPAGE); one that has none gives its usual pages.
   */
  allocateAligned(bytes: number, alignment: number, hugePages: boolean): ArrayBuffer;
  /** posix_fallocate from 0. Returns errno. */
  preallocate(descriptor: number, bytes: number): number;
  /** flock(LOCK_EX | LOCK_NB): refuses a second process on one data directory. Returns errno. */
  lockFile(descriptor: number): number;
  /** posix_fadvise(DONTNEED): asks the kernel to drop a range (length 0: to the end) from the page cache. Returns errno. */
  adviseCold(descriptor: number, offset: number, length: number): number;
  /** CRC32C as a u32; `portable` without the processor's instruction, for tests. */
  checksumOf(bytes: Uint8Array, portable: boolean): number;
  /**
   * Sends a file's pages over loopback with sendfile (and once more through a pipe with splice), overwrites them with
   * O_DIRECT while the receiver hasn't read, and says whether the receiver still got the old bytes: 1 yes, 0 no, or
   * -errno when the file system can't be written with O_DIRECT at all. Its file is removed.
   */
  lentPagesSurvive(directory: string): number;
  /** Raises RLIMIT_NOFILE's soft limit to the hard one; returns the soft limit in force. */
  raiseFileLimit(): number;
}

const require = createRequire(import.meta.url);

/** Another build of the addon, such as the one with sanitizers. */
const chosen = process.env['S3_ACCELERATOR_ADDON'];

export const native = require(chosen ?? '../build/Release/native.node') as NativeAddon;

/**
 * The UDP socket of gossip: seals and sends packets, and lets in only those that the cluster's key vouches for.
 *
 * A datagram passes four doors, the cheapest first: does it look like gossip, is there budget to check it, is its MAC right,
 * is it well-formed. Each that it fails is counted.
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import {
  maxDatagramBytes,
  newPacket,
  type Packet,
} from '@s3-accelerator/core/membership/packet.ts';
import {
  decodeGossip,
  encodeGossip,
  gossipBodyLength,
} from '@s3-accelerator/protocol/gossip-packet.ts';
import { formatAddress, parseAddress, type Address } from '../config/address.ts';
import type { FaultLog } from '../log.ts';
import { CheckBudget } from './check-budget.ts';
import { PacketSeal } from './packet-seal.ts';

export interface GossipCounters {
  packetsReceived: number;
  packetsSent: number;
  bytesSent: number;
  /** Datagrams that are no gossip at all. */
  foreign: number;
  /** Datagrams dropped unchecked, for lack of budget. */
  unchecked: number;
  badMacs: number;
  /** Sealed by this cluster's key and yet not readable: another version. */
  malformed: number;
  sendsFailed: number;
}

export interface GossipSocketOptions {
  /** Where to listen; port 0 lets the kernel choose. */
  readonly listen: Address;
  /** 32 bytes. */
  readonly key: Uint8Array;
  readonly faults: FaultLog;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

export class GossipSocket {
  readonly counters: GossipCounters = {
    packetsReceived: 0,
    packetsSent: 0,
    bytesSent: 0,
    foreign: 0,
    unchecked: 0,
    badMacs: 0,
    malformed: 0,
    sendsFailed: 0,
  };
  /** Called with each packet and where it came from; the packet is reused. */
  onPacket: (from: string, packet: Packet) => void = () => undefined;
  readonly #socket: Socket;
  readonly #options: GossipSocketOptions;
  readonly #seal: PacketSeal;
  readonly #budget: CheckBudget;
  readonly #packet = newPacket();
  #sending = 0;
  #isClosed = false;

  /** Listens. Rejects when the address is taken or isn't this machine's. */
  static async open(options: GossipSocketOptions): Promise<GossipSocket> {
    const { host, port } = options.listen;
    const socket = createSocket({
      type: isIPv6(host) ? 'udp6' : 'udp4',
      // Addresses are numeric: nothing to look up.
      lookup: (address, _options, done) => {
        done(null, address, isIPv6(address) ? 6 : 4);
      },
    });
    // Without a lookup, binding may be over before `bind` returns.
    const listening = once(socket, 'listening');
    socket.bind({ address: host, port, exclusive: true });
    try {
      await listening;
    } catch (error) {
      socket.close();
      throw error;
    }
    return new GossipSocket(socket, options);
  }

  private constructor(socket: Socket, options: GossipSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#seal = new PacketSeal(options.key);
    this.#budget = new CheckBudget(options.now());
    socket.on('message', (datagram, remote) => {
      this.#receive(datagram, remote);
    });
    socket.on('error', (error) => {
      options.faults.warn('gossip-socket', 'the socket of gossip reports an error', {
        error: error.message,
      });
    });
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** Sends a packet to a numeric host:port; encodes it during the call. */
  send(to: string, packet: Packet): void {
    const address = parseAddress(to);
    if (address === undefined || this.#isClosed) {
      this.counters.sendsFailed += 1;
      return;
    }
    // A buffer of its own: the kernel may take it later.
    const bytes = new Uint8Array(maxDatagramBytes);
    const length = this.#seal.seal(bytes, encodeGossip(bytes, packet));
    this.counters.packetsSent += 1;
    this.counters.bytesSent += length;
    this.#sending += 1;
    this.#socket.send(bytes, 0, length, address.port, address.host, (error) => {
      this.#sending -= 1;
      if (error === null) return;
      this.counters.sendsFailed += 1;
      this.#options.faults.warn(`gossip-send-${to}`, 'a packet of gossip could not be sent', {
        to,
        error: error.message,
      });
    });
  }

  /** Lets what was sent leave, for at most a second, and closes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const end = this.#options.now() + 1000;
    while (this.#sending > 0 && this.#options.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  #receive(datagram: Uint8Array, remote: RemoteInfo): void {
    if (this.#isClosed) return;
    const { counters } = this;
    const length = gossipBodyLength(datagram, datagram.length);
    if (length < 0) {
      counters.foreign += 1;
      return;
    }
    const { faults } = this.#options;
    const now = this.#options.now();
    const from = formatAddress({ host: remote.address, port: remote.port });
    if (!this.#budget.allows(now, from)) {
      counters.unchecked += 1;
      return;
    }
    if (!this.#seal.isSealed(datagram, length)) {
      counters.badMacs += 1;
      faults.warn(
        'gossip-mac',
        'gossip that the cluster secret does not vouch for; is another cluster.secret configured there?',
        { from },
      );
      return;
    }
    const fault = decodeGossip(datagram, length, this.#packet);
    if (fault !== null) {
      counters.malformed += 1;
      faults.warn(
        'gossip-malformed',
        'gossip that this version cannot read; does another version run there?',
        { from, fault },
      );
      return;
    }
    if (comesFromItsSender(from, this.#packet)) this.#budget.remember(now, from);
    counters.packetsReceived += 1;
    this.onPacket(from, this.#packet);
  }
}

/** Whether a packet comes from where its sender says that it is. One that was recorded and is played back from elsewhere doesn't. */
function comesFromItsSender(from: string, { isMember, sender, updates: [own] }: Packet): boolean {
  return isMember && own?.nodeId === sender && own.address === from;
}

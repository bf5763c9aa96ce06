/**
 * Hosts of one network, for tests that run in a namespace of their own (own-network.ts): each is a namespace more, with a cable to this
 * one, which passes their packets on, or drops them, or passes them on slowly.
 *
 *     host 0 (10.77.0.2) ── 10.77.0.1 ┐
 *     host 1 (10.77.1.2) ── 10.77.1.1 ┼ the test, and the S3 that it plays (10.77.255.1)
 *     host 2 (10.77.2.2) ── 10.77.2.1 ┘
 *
 * All hosts know S3 by one address: an endpoint is part of what an object's version is, so nodes that call it differently take each
 * other's versions for those of another origin.
 *
 * Packets between two hosts can be dropped each way by itself, without a word, as a broken network does. A namespace lives as long as the
 * process that holds it; all end with the test's.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { Place } from './programs.ts';

/** No test takes longer: what is left behind goes by itself. */
const longestSeconds = 900;

export class Network {
  readonly #holders: ChildProcess[] = [];
  /** Hosts that are connected. */
  readonly #cabled = new Set<number>();

  static start(hosts: number): Network {
    const network = new Network();
    ip('link', 'set', 'lo', 'up');
    ip('address', 'replace', `${testAddress}/32`, 'dev', 'lo');
    writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
    try {
      for (let at = 0; at < hosts; at++) network.#addHost(at);
    } catch (error) {
      network.stop();
      throw error;
    }
    return network;
  }

  /** What runs on a host. */
  placeOf(host: number): Place {
    return {
      host: addressOf(host),
      testHost: testAddress,
      within: ['nsenter', `--net=/proc/${this.#pidOf(host)}/ns/net`, '--'],
    };
  }

  /** Drops every packet from one host to another. */
  cut(from: number, to: number): void {
    ip('rule', 'add', 'from', addressOf(from), 'to', addressOf(to), 'blackhole');
  }

  /** Passes them on again. */
  mend(from: number, to: number): void {
    ip('rule', 'del', 'from', addressOf(from), 'to', addressOf(to), 'blackhole');
  }

  /** Lets so much through from a host and no more. */
  slow(host: number, bitsPerSecond: number): void {
    const rate = `${bitsPerSecond}bit`;
    const shape = ['tbf', 'rate', rate, 'burst', '32kb', 'latency', '400ms'];
    this.#run(host, 'tc', 'qdisc', 'add', 'dev', 'eth0', 'root', ...shape);
  }

  quicken(host: number): void {
    this.#run(host, 'tc', 'qdisc', 'del', 'dev', 'eth0', 'root');
  }

  stop(): void {
    for (const [at, holder] of this.#holders.entries()) {
      // The kernel takes down a namespace some time after its last process: the next network may want its cables before that.
      if (this.#cabled.has(at)) ip('link', 'delete', cableOf(at));
      holder.kill('SIGKILL');
    }
    this.#holders.length = 0;
    this.#cabled.clear();
  }

  #addHost(at: number): void {
    const cable = cableOf(at);
    const holder = spawn('unshare', ['--net', 'sleep', String(longestSeconds)], {
      stdio: 'ignore',
    });
    this.#holders.push(holder);
    this.#awaitNamespace(at);
    ip(
      'link',
      'add',
      'name',
      cable,
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      this.#pidOf(at),
    );
    this.#cabled.add(at);
    ip('address', 'add', `${gatewayOf(at)}/24`, 'dev', cable);
    ip('link', 'set', cable, 'up');
    this.#run(at, 'ip', 'link', 'set', 'lo', 'up');
    this.#run(at, 'ip', 'address', 'add', `${addressOf(at)}/24`, 'dev', 'eth0');
    this.#run(at, 'ip', 'link', 'set', 'eth0', 'up');
    this.#run(at, 'ip', 'route', 'add', 'default', 'via', gatewayOf(at));
  }

  #run(host: number, ...command: string[]): void {
    const [first = '', ...args] = [...this.placeOf(host).within, ...command];
    execFileSync(first, args);
  }

  /** `unshare` has become `sleep` once it is in a namespace other than this one. */
  #awaitNamespace(host: number): void {
    const script = `until [ "$(readlink /proc/${this.#pidOf(host)}/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done`;
    execFileSync('sh', ['-c', script], { timeout: 20_000 });
  }

  #pidOf(host: number): string {
    return String(this.#holders[host]?.pid ?? 0);
  }
}

const testAddress = '10.77.255.1';
const addressOf = (host: number): string => `10.77.${host}.2`;
const gatewayOf = (host: number): string => `10.77.${host}.1`;
const cableOf = (host: number): string => `cable${host}`;

function ip(...args: string[]): void {
  execFileSync('ip', args);
}

/** Numeric addresses with ports. Names are not resolved: a node listens and is found at one address. */
import { isIP } from 'node:net';

export interface Address {
  /** IPv4 or IPv6, without brackets. */
  readonly host: string;
  /** 0 lets the kernel choose, where listening. */
  readonly port: number;
}

/** Takes `10.0.1.10:9400` or `[::1]:9400` apart; undefined when it is neither. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, six, four, portText] = match;
  const host = six ?? four ?? '';
  const port = Number(portText);
  if (isIP(host) !== (six === undefined ? 4 : 6) || port > 65_535) return undefined;
  return { host, port };
}

export function formatAddress({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const wildcards = new Set(['0.0.0.0', '::']);

/** Whether others can be told to come here: not every address of a machine, and not a port still to be chosen. */
export function isReachable({ host, port }: Address): boolean {
  return port !== 0 && !wildcards.has(host);
}

/** Whether two listeners at these addresses would get in each other's way. */
export function collide(one: Address, other: Address): boolean {
  if (one.port === 0 || one.port !== other.port) return false;
  return one.host === other.host || wildcards.has(one.host) || wildcards.has(other.host);
}

/** Where an endpoint's URL leads: one address, looked up once, so that a run never waits for a name. */
import { lookup } from 'node:dns/promises';
import type { Endpoint } from '../plan/plan.ts';

export interface ServerAddress {
  /** Numeric. */
  readonly host: string;
  readonly port: number;
  /** The name that the certificate has to show; null for http. */
  readonly serverName: string | null;
}

/** Throws Node's own error when the name has no address. */
export async function addressOf(endpoint: Endpoint): Promise<ServerAddress> {
  const { protocol, hostname, port } = new URL(endpoint.url);
  const name = hostname.replace(/^\[|\]$/g, '');
  const isTls = protocol === 'https:';
  const { address } = await lookup(name);
  return {
    host: address,
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    serverName: isTls ? name : null,
  };
}

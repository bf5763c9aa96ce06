/**
 * How further loops reach the node of a process that is a cluster of its own: the node listens for links after all, at a port of the
 * loopback that the kernel picks, and with a secret that nobody outside of the process has.
 */
import { randomBytes } from 'node:crypto';
import type { Address } from '../config/address.ts';
import type { ClusterConfig, Config } from '../config/config.ts';
import { Secret } from '../config/secret.ts';

export const innerListen: Address = { host: '127.0.0.1', port: 0 };

/** null where there are links anyhow, or nobody needs any. */
export function innerCluster({ cluster, node, gateway }: Config): ClusterConfig | null {
  if (cluster !== undefined || node === undefined) return null;
  if (gateway === undefined || gateway.loops === 1) return null;
  return {
    secret: new Secret(randomBytes(32).toString('hex')),
    nodes: [],
    downGraceS: 0,
    fallbackWindowS: 0,
    // Nothing is lost or late on the loopback.
    tcp: { rtoMinUs: 0, delackMaxUs: 0 },
  };
}

/** The configuration texts of a life: one process that is gateway and node, or one of each. */
import { buckets } from '../origin/origin.ts';

export interface Ports {
  readonly origin: number;
  readonly gateway: number;
  readonly node: number;
  readonly admin: number;
  readonly gatewayAdmin: number;
}

const key = 'access_key_id = "local-identity"\nsecret_access_key = "local-credential"';
/** The smallest cache there is: what is read doesn't fit, so that blocks come and go. */
const capacity = '64MiB';

const policies = Object.entries(buckets)
  .map(([bucket, { policy }]) => `[cache.buckets.${bucket}]\n${policy}\n`)
  .join('');

const cluster = (ports: Ports): string => `
[cluster]
secret = "a secret of the kill test alone"
nodes = [{ id = 0, address = "127.0.0.1:${ports.node}" }]
`;

const node = (ports: Ports, dataDir: string): string => `
[origin]
endpoint = "http://127.0.0.1:${ports.origin}"
region = "us-east-1"
${key}
[node]
id = 0
data_dir = "${dataDir}"
[cache]
capacity_bytes = "${capacity}"
${policies}`;

const gateway = (ports: Ports): string => `
[gateway]
listen = "127.0.0.1:${ports.gateway}"
[[clients]]
${key}
grants = [{ bucket = "*", access = "write" }]
`;

const admin = (port: number): string => `[admin]\nlisten = "127.0.0.1:${port}"\n`;

export function configOfBoth(ports: Ports, dataDir: string): string {
  return cluster(ports) + node(ports, dataDir) + gateway(ports) + admin(ports.admin);
}

export function configOfNode(ports: Ports, dataDir: string): string {
  return cluster(ports) + node(ports, dataDir) + admin(ports.admin);
}

export function configOfGateway(ports: Ports): string {
  return cluster(ports) + gateway(ports) + admin(ports.gatewayAdmin);
}

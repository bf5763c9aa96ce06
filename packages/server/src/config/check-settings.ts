/**
 * What settings ask of one another, beyond what each allows by itself. Looks at nothing outside the file.
 *
 * A setting that was a fault by itself is missing here, and is not held against the others.
 */
import type { Address } from './address.ts';
import { collide, formatAddress, isReachable } from './address.ts';
import type { Problems } from './problems.ts';
import type { Unsure } from './read-rows.ts';
import { joinPath } from './read-rows.ts';
import type { Secret } from './secret.ts';
import type { Settings } from './settings.ts';

type Read = Unsure<Settings>;

/** Shorter secrets can be guessed, or are left over from an example. */
const secretCharacters = 16;

export function checkSettings(settings: Read, problems: Problems): void {
  checkRoles(settings, problems);
  checkNode(settings, problems);
  checkCluster(settings, problems);
  checkOrigins(settings, problems);
  checkClients(settings, problems);
  checkListeners(settings, problems);
  checkPolicies(settings, problems);
}

function checkRoles(settings: Read, problems: Problems): void {
  const { node, gateway, cluster, origin, origins, clients, metadata } = settings;
  if (node === undefined && gateway === undefined) {
    problems.add('[node], [gateway]: both are missing; one of them says what this process is');
    return;
  }
  if (node === undefined) {
    if (cluster === undefined) {
      problems.add('[cluster]: missing; a gateway without [node] needs cluster.nodes to read from');
    } else if (cluster.nodes?.length === 0) {
      problems.add('cluster.nodes: missing; a gateway without [node] needs nodes to read from');
    }
    if (origin !== undefined || origins.size > 0) {
      problems.warn('[origin] and [origins] have no effect without [node]: only nodes ask S3');
    }
  }
  if (gateway === undefined) {
    if (cluster === undefined) {
      problems.add('[cluster]: missing; a node without [gateway] needs it to be reached');
    }
    if (clients !== undefined && clients.length > 0) {
      problems.warn('[[clients]] has no effect without [gateway]: only gateways check clients');
    }
  } else if (clients?.length === 0 && metadata === undefined) {
    problems.add(
      '[[clients]]: missing; a gateway needs at least one, or [metadata], or nobody could use it',
    );
  }
}

function checkNode({ node, cluster, origin, origins, metadata }: Read, problems: Problems): void {
  if (node === undefined) return;
  if (origin === undefined && origins.size === 0 && metadata === undefined) {
    problems.add(
      '[origin]: missing; a node needs it, or an [origins.<bucket>] or [metadata], to read from',
    );
  }
  if (cluster === undefined) {
    if (node.listen !== undefined) {
      problems.add('[cluster]: missing; node.listen needs cluster.secret to know who connects');
    }
    return;
  }
  checkOwnEntry(node, cluster, problems);
}

/** A node has an entry in the list, or an address to be told to others and the weight that all have. */
function checkOwnEntry(
  node: NonNullable<Read['node']>,
  cluster: NonNullable<Read['cluster']>,
  problems: Problems,
): void {
  const { nodes } = cluster;
  if (nodes === undefined || node.id === undefined) return;
  if (nodes.some(({ id }) => id === node.id)) return;
  const own = node.listen && formatAddress(node.listen);
  const other = nodes.find(({ address }) => address && formatAddress(address) === own);
  if (other !== undefined) {
    problems.add(
      `node.id = ${node.id}: cluster.nodes has node ${other.id} at node.listen = "${own}"; one of the two ids is wrong`,
    );
  } else if (node.listen === undefined || !isReachable(node.listen)) {
    problems.add(
      `node.id = ${node.id}: has no entry in cluster.nodes to say where others reach it; add one, or make node.listen that address`,
    );
  } else if (nodes.some(({ weight }) => weight !== undefined && weight !== 1)) {
    problems.add(
      `node.id = ${node.id}: has no entry in cluster.nodes to give its weight, and others there have one`,
    );
  }
}

function checkCluster({ cluster }: Read, problems: Problems): void {
  if (cluster === undefined) return;
  checkSecret('cluster.secret', cluster.secret, problems);
  const nodes = cluster.nodes ?? [];
  refuseTwice(
    'cluster.nodes',
    'id',
    nodes.map(({ id }) => id),
    problems,
  );
  const addresses = nodes.map(({ address }) => address && `"${formatAddress(address)}"`);
  refuseTwice('cluster.nodes', 'address', addresses, problems);
}

/** Also for the metadata service's file, which has the same tables. */
export function checkOrigins(
  { origin, origins }: Pick<Read, 'origin' | 'origins'>,
  problems: Problems,
): void {
  if (origin !== undefined) checkOriginKeys('origin', origin, problems);
  for (const [bucket, one] of origins) checkOriginKeys(joinPath('origins', bucket), one, problems);
}

/** Keys come whole or not at all: half of them must not send anybody to the default chain. */
function checkOriginKeys(
  path: string,
  { accessKeyId, secretAccessKey, sessionToken }: NonNullable<Read['origin']>,
  problems: Problems,
): void {
  const given = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
  const extra = sessionToken === undefined ? [] : ['session_token'];
  const has = [...Object.entries(given).flatMap(([key, value]) => (value ? [key] : [])), ...extra];
  if (has.length === 0) return;
  for (const [key, value] of Object.entries(given)) {
    const at = `${path}.${key}`;
    if (value !== undefined || problems.hasAt(at)) continue;
    problems.add(`${at}: missing; ${path}.${has[0]!} needs it`);
  }
}

export function checkClients({ clients = [] }: Pick<Read, 'clients'>, problems: Problems): void {
  const keys = clients.flatMap((client, at) => [
    { path: `clients[${at}]`, key: client },
    ...(client.keys ?? []).map((key, nth) => ({ path: `clients[${at}].keys[${nth}]`, key })),
  ]);
  const seen = new Map<string, string>();
  for (const { path, key } of keys) {
    const { accessKeyId: id, expiresAt } = key;
    checkSecret(`${path}.secret_access_key`, key.secretAccessKey, problems);
    if (expiresAt !== undefined && expiresAt <= Date.now()) {
      problems.warn(`${path}.expires_at is over: the key is refused`);
    }
    if (id === undefined) continue;
    const first = seen.get(id);
    if (first === undefined) seen.set(id, path);
    else problems.add(`${path}.access_key_id = "${id}": ${first} has it already`);
  }
  for (const [at, client] of clients.entries()) {
    if (client.grants?.length !== 0) continue;
    problems.add(`clients[${at}].grants: missing; a client without any may do nothing`);
  }
}

/** Values that each entry of a list must have to itself. */
function refuseTwice(
  list: string,
  key: string,
  values: readonly (string | number | undefined)[],
  problems: Problems,
): void {
  for (const [at, value] of values.entries()) {
    const first = values.indexOf(value);
    if (value === undefined || first === at) continue;
    problems.add(`${list}[${at}].${key} = ${value}: ${list}[${first}] has it already`);
  }
}

function checkSecret(path: string, secret: Secret | undefined, problems: Problems): void {
  if (secret === undefined || secret.length >= secretCharacters) return;
  problems.warn(
    `${path} is shorter than ${secretCharacters} characters and could be guessed: use a long random one`,
  );
}

/** A place that a process listens at, and the setting that says so. */
export interface Listener {
  readonly path: string;
  readonly address: Address;
}

interface Listening {
  readonly gateway: { readonly listen: Address | undefined } | undefined;
  readonly node: { readonly listen: Address | undefined } | undefined;
  readonly admin: { readonly listen: Address | undefined } | undefined;
}

/** Where a process with these settings listens. */
export function listenersOf({ gateway, node, admin }: Listening): Listener[] {
  return [
    { path: 'gateway.listen', address: gateway?.listen },
    { path: 'node.listen', address: node?.listen },
    { path: 'admin.listen', address: admin?.listen },
  ].filter((listener): listener is Listener => listener.address !== undefined);
}

function checkListeners(settings: Read, problems: Problems): void {
  const { node, cluster } = settings;
  const own = cluster?.nodes?.find((member) => node !== undefined && member.id === node.id);
  const listen = node?.listen ?? own?.address;
  const listeners = listenersOf({ ...settings, node: { listen } });
  for (const [at, { path, address }] of listeners.entries()) {
    const other = listeners.slice(0, at).find((earlier) => collide(earlier.address, address));
    if (other === undefined) continue;
    problems.add(`${path} = "${formatAddress(address)}": ${other.path} is there already`);
  }
}

function checkPolicies({ cache }: Read, problems: Problems): void {
  for (const [bucket, { immutable, ttlMs }] of cache.buckets) {
    if (immutable === true && ttlMs !== undefined) {
      const path = joinPath('cache.buckets', bucket);
      problems.warn(`${path}: ttl_ms has no effect where immutable = true`);
    }
  }
}

/**
 * What settings ask of one another, beyond what each allows by itself. Looks at nothing outside the file.
 */
import type { Address } from './address.ts';
import { collide, formatAddress } from './address.ts';
import type { Problems } from './problems.ts';
import { joinPath } from './read-settings.ts';
import type { Secret } from './secret.ts';
import type { Settings } from './settings.ts';

/** Shorter ones can be guessed, or are left over from an example. */
const secretCharacters = 16;

export function checkSettings(settings: Settings, problems: Problems): void {
  checkRoles(settings, problems);
  checkNode(settings, problems);
  checkCluster(settings, problems);
  checkClients(settings, problems);
  checkListeners(settings, problems);
  checkPolicies(settings, problems);
}

function checkRoles(settings: Settings, problems: Problems): void {
  const { node, gateway, cluster, origin, origins } = settings;
  if (node === undefined && gateway === undefined) {
    problems.add('[node], [gateway]: both are missing; one of them says what this process is');
    return;
  }
  if (node === undefined) {
    if (cluster === undefined) {
      problems.add('[cluster]: missing; a gateway without [node] needs cluster.nodes to read from');
    } else if (cluster.nodes.length === 0) {
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
    if (settings.clients.length > 0) {
      problems.warn('[[clients]] has no effect without [gateway]: only gateways check clients');
    }
  }
}

function checkNode({ node, cluster, origin, origins }: Settings, problems: Problems): void {
  if (node === undefined) return;
  if (origin === undefined && origins.size === 0) {
    problems.add('[origin]: missing; a node needs it, or an [origins.<bucket>], to read from');
  }
  if (cluster === undefined) {
    if (node.listen !== undefined) {
      problems.add('[cluster]: missing; node.listen needs cluster.secret to know who connects');
    }
  } else if (!cluster.nodes.some((member) => member.id === node.id)) {
    const ids = cluster.nodes.map((member) => member.id).join(', ');
    problems.add(
      `node.id = ${node.id}: must be the id of one of cluster.nodes (${ids === '' ? 'which is empty' : ids}); joining by gossip isn't supported yet by this version`,
    );
  }
}

function checkCluster({ cluster }: Settings, problems: Problems): void {
  if (cluster === undefined) return;
  checkSecret('cluster.secret', cluster.secret, problems);
  const ids = new Map<number, number>();
  const addresses = new Map<string, number>();
  for (const [at, member] of cluster.nodes.entries()) {
    const address = formatAddress(member.address);
    const sameId = ids.get(member.id);
    const sameAddress = addresses.get(address);
    if (sameId !== undefined) {
      problems.add(`cluster.nodes[${at}].id = ${member.id}: cluster.nodes[${sameId}] has it too`);
    }
    if (sameAddress !== undefined) {
      problems.add(
        `cluster.nodes[${at}].address = "${address}": cluster.nodes[${sameAddress}] has it too`,
      );
    }
    ids.set(member.id, at);
    addresses.set(address, at);
  }
}

function checkClients({ clients, gateway }: Settings, problems: Problems): void {
  if (gateway !== undefined && clients.length === 0) {
    problems.add('[[clients]]: missing; a gateway needs at least one, or nobody could use it');
  }
  const ids = new Map<string, number>();
  for (const [at, client] of clients.entries()) {
    const same = ids.get(client.accessKeyId);
    if (same !== undefined) {
      problems.add(
        `clients[${at}].access_key_id = "${client.accessKeyId}": clients[${same}] has it too`,
      );
    }
    if (client.grants.length === 0) {
      problems.add(
        `clients[${at}].grants: missing; without a grant "${client.accessKeyId}" may do nothing`,
      );
    }
    checkSecret(`clients[${at}].secret_access_key`, client.secretAccessKey, problems);
    ids.set(client.accessKeyId, at);
  }
}

function checkSecret(path: string, secret: Secret, problems: Problems): void {
  if (secret.length < secretCharacters) {
    problems.warn(
      `${path} is shorter than ${secretCharacters} characters: it can be guessed. Use a long random one`,
    );
  }
}

export interface Listener {
  /** The setting that says where. */
  readonly path: string;
  readonly address: Address;
}

/** Where a process with these settings listens. */
export function listenersOf(settings: Pick<Settings, 'node' | 'gateway' | 'admin'>): Listener[] {
  return [
    { path: 'gateway.listen', address: settings.gateway?.listen },
    { path: 'node.listen', address: settings.node?.listen },
    { path: 'admin.listen', address: settings.admin?.listen },
  ].filter((listener): listener is Listener => listener.address !== undefined);
}

function checkListeners(settings: Settings, problems: Problems): void {
  const { node, cluster } = settings;
  const listeners = listenersOf(settings);
  const own = cluster?.nodes.findIndex((member) => member.id === node?.id) ?? -1;
  if (node?.listen === undefined && own >= 0) {
    const { address } = cluster!.nodes[own]!;
    listeners.push({ path: `cluster.nodes[${own}].address`, address });
  }
  for (const [at, listener] of listeners.entries()) {
    const other = listeners
      .slice(0, at)
      .find((earlier) => collide(earlier.address, listener.address));
    if (other === undefined) continue;
    problems.add(
      `${listener.path} = "${formatAddress(listener.address)}": ${other.path} listens there already`,
    );
  }
}

function checkPolicies({ cache }: Settings, problems: Problems): void {
  for (const [bucket, policy] of cache.buckets) {
    if (policy.immutable === true && policy.ttlMs !== undefined) {
      problems.warn(
        `${joinPath('cache.buckets', bucket)}: ttl_ms has no effect where immutable = true`,
      );
    }
  }
}

import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import type { Config } from './config.ts';
import { loadConfig, readConfig } from './config.ts';
import { ConfigError } from './problems.ts';

const read = (text: string): Config => readConfig(text, 'test.toml').config;

const storageNode = `
[origin]                       # or [metadata] to look origins up
endpoint = "https://s3.us-east-1.amazonaws.com"
region = "us-east-1"
access_key_id = "AKIA..."
secret_access_key = "..."

[cluster]
secret = "..."                 # shared by every process
nodes = [{ id = 0, address = "10.0.1.10:9400", weight = 3800 },
         { id = 1, address = "10.0.1.11:9400", weight = 3800 }]

[node]
id = 0
data_dir = "/mnt/nvme/s3accel"

[cache.default_policy]
ttl_ms = 5000                  # revalidate metadata after 5 s

[cache.buckets.tables]
immutable = true               # never revalidate

[admin]
listen = "10.0.1.10:9401"      # metrics and health checks
`;

const sidecar = `
[[clients]]                    # or [metadata] to look clients up
access_key_id = "analytics"
secret_access_key = "..."
grants = [{ bucket = "tables", access = "read" }, { bucket = "scratch", prefix = "analytics/", access = "write" }]

[cluster]
secret = "..."
nodes = [{ id = 0, address = "10.0.1.10:9400" }]   # any running node

[gateway]
listen = "127.0.0.1:9000"

[admin]
listen = "10.0.2.20:9402"
`;

const lone = `
[origin]
endpoint = "http://127.0.0.1:8080"
region = "eu-west-1"
access_key_id = "id"
secret_access_key = "a secret of the tests alone"
[node]
id = 7
data_dir = "cache"
[gateway]
listen = "127.0.0.1:0"
[[clients]]
access_key_id = "me"
secret_access_key = "a secret of the tests alone"
grants = [{ bucket = "*", access = "write" }]
`;

test('a client has one key or several, each with an end of its own', () => {
  const { clients } = read(
    lone.replace(
      'grants =',
      `expires_at = 2100-01-01T01:00:00+01:00
       keys = [{ access_key_id = "next", secret_access_key = "a second secret of the tests" }]
       grants =`,
    ),
  );
  const [client] = clients;
  assert.equal(client?.expiresAt, Date.UTC(2100, 0, 1));
  assert.deepEqual(
    client.keys.map(({ accessKeyId, expiresAt }) => [accessKeyId, expiresAt]),
    [['next', undefined]],
  );
});

test('a key that has ended is warned of', () => {
  const { warnings } = readConfig(
    lone.replace('grants =', 'expires_at = 2001-01-01T00:00:00Z\ngrants ='),
    'lone.toml',
  );
  assert.deepEqual(warnings, ['clients[0].expires_at is over: the key is refused']);
});

test('an origin without keys leaves them to the default chain', () => {
  const text = storageNode.replace(/access_key_id = "AKIA.*\nsecret_access_key = .*\n/, '');
  const { origin } = readConfig(text, 'node.toml').config;
  assert.notEqual(text, storageNode);
  assert.equal(origin?.accessKeyId, undefined);
  assert.equal(origin?.secretAccessKey, undefined);
});

test('a storage node loads, with what it left out filled in', () => {
  const { config, warnings } = readConfig(storageNode, 'node.toml');
  assert.equal(config.gateway, undefined);
  assert.deepEqual(config.node?.listen, { host: '10.0.1.10', port: 9400 });
  assert.equal(config.origin?.secretAccessKey?.reveal(), '...');
  assert.equal(config.cluster?.nodes[1]?.weight, 3800);
  assert.deepEqual(config.cluster.tcp, { rtoMinUs: 5000, delackMaxUs: 5000 });
  assert.equal(config.cache.capacityBytes, 10 * 2 ** 30);
  assert.deepEqual(config.cache.buckets.get('tables'), {
    immutable: true,
    ttlMs: 5000,
    admitOnFirstRead: false,
  });
  assert.deepEqual(warnings, [
    'cluster.secret is shorter than 16 characters and could be guessed: use a long random one',
  ]);
});

test('a sidecar gateway loads, with two grants', () => {
  const { config } = readConfig(sidecar, 'sidecar.toml');
  assert.equal(config.node, undefined);
  assert.deepEqual(config.clients[0]?.grants, [
    { bucket: 'tables', prefix: '', access: 'read' },
    { bucket: 'scratch', prefix: 'analytics/', access: 'write' },
  ]);
  assert.equal(config.gateway?.region, 'us-east-1');
  assert.equal(config.gateway.keepAliveMs, 75_000);
});

test('config/local.toml loads without a warning', () => {
  const { warnings } = loadConfig(
    new URL('../../../../config/local.toml', import.meta.url).pathname,
  );
  assert.deepEqual(warnings, []);
});

test('a process that is node and gateway needs no cluster', () => {
  const config = read(lone);
  assert.equal(config.cluster, undefined);
  assert.equal(config.node?.listen, undefined);
  assert.equal(config.node?.dataDir, `${process.cwd()}/cache`);
});

test('a node that names only a running one is reached where it listens', () => {
  const joining = storageNode
    .replace(/nodes = .*\n.*\n/, 'nodes = [{ id = 0, address = "10.0.1.10:9400" }]\n')
    .replace('[node]\nid = 0', '[node]\nid = 4\nlisten = "10.0.1.14:9400"');
  const { node } = read(joining);
  assert.deepEqual(node?.address, { host: '10.0.1.14', port: 9400 });
  assert.equal(node.weight, 1);
});

test('a gateway has a loop for each core that the process may use, unless it is told otherwise', () => {
  assert.equal(read(lone).gateway?.loops, availableParallelism());
  assert.equal(read(lone.replace('[gateway]', '[gateway]\nloops = 3')).gateway?.loops, 3);
});

test("a gateway's region is its origin's, unless it has its own", () => {
  assert.equal(read(lone).gateway?.region, 'eu-west-1');
  const own = lone.replace('[gateway]', '[gateway]\nregion = "auto"');
  assert.equal(read(own).gateway?.region, 'auto');
});

test('a node listens where it says, else at its address in the cluster', () => {
  const elsewhere = storageNode.replace('[node]', '[node]\nlisten = "0.0.0.0:9400"');
  assert.deepEqual(read(elsewhere).node?.listen, { host: '0.0.0.0', port: 9400 });
  assert.deepEqual(read(elsewhere).node?.address, { host: '10.0.1.10', port: 9400 });
  assert.equal(read(elsewhere).node?.weight, 3800);
});

test("a bucket's policy takes what it leaves out from the default policy", () => {
  const config = read(`${lone}
[cache.default_policy]
ttl_ms = 60000
admit_on_first_read = true
[cache.buckets."with.dots"]
admit_on_first_read = false
`);
  assert.deepEqual(config.cache.buckets.get('with.dots'), {
    immutable: false,
    ttlMs: 60_000,
    admitOnFirstRead: false,
  });
});

test('each bucket may have an origin of its own, under another name', () => {
  const config = read(`${lone}
[origins.assets]
endpoint = "https://0123456789abcdef.r2.cloudflarestorage.com/"
region = "auto"
access_key_id = "id"
secret_access_key = "..."
bucket = "assets-production"
`);
  const origin = config.origins.get('assets');
  assert.equal(origin?.endpoint, 'https://0123456789abcdef.r2.cloudflarestorage.com');
  assert.equal(origin.bucket, 'assets-production');
  assert.equal(origin.checksumTrailers, true);
});

test('sizes are numbers of bytes or have a unit', () => {
  const capacity = (value: string): number =>
    read(`${lone}[cache]\ncapacity_bytes = ${value}\n`).cache.capacityBytes;
  assert.equal(capacity('1073741824'), 2 ** 30);
  assert.equal(capacity('"1GiB"'), 2 ** 30);
  assert.equal(capacity('"1.5 GiB"'), 1.5 * 2 ** 30);
  assert.equal(capacity('"1GB"'), 1e9);
});

test('the result is frozen all the way down', () => {
  const { config } = readConfig(storageNode, 'node.toml');
  const seen: unknown[] = [config];
  for (const value of seen) {
    if (typeof value !== 'object' || value === null) continue;
    assert.ok(value instanceof Map || Object.isFrozen(value), JSON.stringify(value));
    seen.push(...(value instanceof Map ? value.values() : Object.values(value)));
  }
  assert.ok(seen.length > 40);
});

test('a secret shows in no dump of the configuration', () => {
  const dump = JSON.stringify(read(lone));
  assert.match(dump, /\(hidden\)/);
  assert.doesNotMatch(dump, /a secret of the tests alone/);
});

test('a file that is missing is a problem of the configuration', () => {
  assert.throws(
    () => loadConfig('/nowhere/at/all.toml'),
    (error) => error instanceof ConfigError && /can't be read: ENOENT/.test(error.message),
  );
});

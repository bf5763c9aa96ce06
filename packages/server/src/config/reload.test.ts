import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from './config.ts';
import { readConfig } from './config.ts';
import { needRestart } from './reload.ts';

const before = `
[origin]
endpoint = "http://127.0.0.1:8080"
region = "us-east-1"
access_key_id = "id"
secret_access_key = "an-origin-secret"
[cluster]
secret = "a-cluster-secret"
nodes = [{ id = 0, address = "127.0.0.1:9400" }]
[node]
id = 0
data_dir = "/tmp/s3accel"
[gateway]
listen = "127.0.0.1:9000"
[[clients]]
access_key_id = "me"
secret_access_key = "a-client-secret!"
grants = [{ bucket = "*", access = "write" }]
`;
const read = (text: string): Config => readConfig(text, 'test.toml').config;
const changed = (edit: (text: string) => string): string[] =>
  needRestart(read(before), read(edit(before)));

test('the same file asks for nothing', () => {
  assert.deepEqual(
    changed((text) => text),
    [],
  );
});

test('clients, grants, policies, origins and the log level are reloaded', () => {
  assert.deepEqual(
    changed((text) =>
      text
        .replace('a-client-secret!', 'another-client-secret')
        .replace('access = "write"', 'access = "read"')
        .replace('8080', '8081')
        .concat('[cache.buckets.tables]\nimmutable = true\n')
        .concat('[cache.default_policy]\nttl_ms = 1\n')
        .concat('[log]\nlevel = "debug"\n'),
    ),
    [],
  );
});

test('what holds sockets, files and memory waits for a restart', () => {
  assert.deepEqual(
    changed((text) =>
      text
        .replace('a-cluster-secret', 'another-cluster-secret')
        .replace('9400', '9401')
        .replace('[gateway]', '[gateway]\nkeep_alive_ms = 80000')
        .concat('[cache]\ncapacity_bytes = "20GiB"\n')
        .concat('[admin]\nlisten = "127.0.0.1:9090"\n'),
    ),
    [
      'cluster.secret',
      'cluster.nodes',
      'node.listen',
      'cache.capacity_bytes',
      'gateway.keep_alive_ms',
      'admin',
    ],
  );
});

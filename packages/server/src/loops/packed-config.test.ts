import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../config/config.ts';
import { packConfig, unpackConfig } from './packed-config.ts';

const text = `
[cluster]
secret = "a secret of the cluster"
nodes = [{ id = 3, address = "10.0.1.10:9400", weight = 5 }]
[cache.buckets.tables]
ttl_ms = 17
[[clients]]
access_key_id = "one"
secret_access_key = "a secret of one"
grants = [{ bucket = "*", access = "write" }]
[gateway]
listen = "127.0.0.1:9000"
domains = ["s3.example.com"]
`;

test('a configuration arrives in another thread as it was, secrets included', () => {
  const { config } = readConfig(text, 'test');
  const copy = unpackConfig(structuredClone(packConfig(config)));
  assert.deepEqual(copy, { ...config });
  assert.ok(copy.cluster!.secret.equals(config.cluster!.secret));
  assert.equal(copy.clients[0]!.secretAccessKey.reveal(), 'a secret of one');
  assert.equal(copy.cache.buckets.get('tables')?.ttlMs, 17);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig, type Config } from '../config/config.ts';
import { createLog, FaultLog } from '../log.ts';
import { BucketSettings } from './bucket-settings.ts';
import { NodeOrigins } from './node-origins.ts';

const configOf = (more = '', ofOrigin = 'https://s3.example.com', policy = ''): Config =>
  readConfig(
    `
[origin]
endpoint = "${ofOrigin}"
region = "us-east-1"
access_key_id = "id"
secret_access_key = "an-origin-secret"
[node]
id = 0
data_dir = "/nowhere"
[cache]
capacity_bytes = "64MiB"
${policy}
${more}
[gateway]
listen = "127.0.0.1:0"
[[clients]]
access_key_id = "me"
secret_access_key = "a-client-secret!"
grants = [{ bucket = "*", access = "write" }]
`,
    'test.toml',
  ).config;

const overrideOf = (bucket: string, real: string, secret = 'another-secret'): string => `
[origins.${bucket}]
endpoint = "https://elsewhere.example.com"
region = "auto"
access_key_id = "id"
secret_access_key = "${secret}"
bucket = "${real}"
`;

interface Settings {
  readonly buckets: BucketSettings;
  readonly told: number[];
  readonly reload: (config: Config) => void;
}

function settingsOf(config: Config): Settings {
  const origins = new NodeOrigins(config, new FaultLog(createLog('silent')));
  const buckets = new BucketSettings(origins, config.cache);
  const told: number[] = [];
  buckets.onChange((mark) => told.push(mark));
  const reload = (wanted: Config): void => {
    origins.reload(wanted);
    buckets.reload(wanted.cache);
  };
  return { buckets, told, reload };
}

const markOf = (config: Config): number => settingsOf(config).buckets.mark;

test('the same settings have the same mark, in whatever order they stand', () => {
  const [one, two] = [overrideOf('one', 'first'), overrideOf('two', 'second')];
  assert.equal(markOf(configOf(one + two)), markOf(configOf(two + one)));
  assert.ok(markOf(configOf()) > 0 && Number.isSafeInteger(markOf(configOf())));
});

test('where a bucket points, and how long it holds, changes the mark; credentials and what is stored don’t', () => {
  const immutable = '[cache.buckets.one]\nimmutable = true\n';
  const marks = [
    configOf(),
    configOf('', 'https://other.example.com'),
    configOf(overrideOf('one', 'first')),
    configOf(overrideOf('one', 'second')),
    configOf(overrideOf('two', 'first')),
    configOf('', undefined, immutable),
    configOf('', undefined, '[cache.default_policy]\nimmutable = true\n'),
    configOf('', undefined, '[cache.default_policy]\nttl_ms = 5\n'),
  ].map(markOf);
  assert.equal(new Set(marks).size, marks.length);
  const renewed = configOf(overrideOf('one', 'first', 'a-newer-secret'));
  assert.equal(markOf(renewed), marks[2]);
  const admitting = '[cache.default_policy]\nadmit_on_first_read = true\n';
  assert.equal(markOf(configOf('', undefined, admitting)), marks[0]);
});

test('a reload tells another mark, and nothing when it is the same', () => {
  const { buckets, told, reload } = settingsOf(configOf());
  const first = buckets.mark;
  reload(configOf());
  assert.deepEqual(told, []);
  const immutable = '[cache.default_policy]\nimmutable = true\n';
  reload(configOf('', undefined, immutable));
  assert.deepEqual(told, [buckets.mark]);
  assert.equal(buckets.policyOf('any').immutable, true);
  reload(configOf());
  assert.equal(buckets.mark, first);
});

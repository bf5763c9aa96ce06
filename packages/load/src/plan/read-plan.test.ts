// What plans are told, word for word, and what a good one becomes.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ConfigError } from 's3-accelerator/config/problems.ts';
import { readPlan } from './read-plan.ts';

const endpoint = `
[endpoint]
url = "http://127.0.0.1:9000"
access_key_id = "me"
secret_access_key = "do not show this"
`;
const datasets = `
[datasets.small]
bucket = "load"
objects = 10
sizes = [{ bytes = "4KiB" }]
`;
const steps = `
[[steps]]
name = "reads"
dataset = "small"
duration_s = 5
`;
const whole = endpoint + datasets + steps;

function problemsOf(text: string, environment: Record<string, string> = {}): readonly string[] {
  try {
    readPlan(text, 'bad.toml', environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems;
  }
  return [];
}

const cases: readonly (readonly [title: string, text: string, problems: readonly string[]])[] = [
  ['a good one is told nothing', whole, []],
  [
    'an empty one lacks all of it',
    '',
    [
      'endpoint.url: missing; must be an http or https URL without credentials, query or fragment',
      'endpoint.access_key_id: missing; give it with secret_access_key here, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
      '[datasets.<name>]: missing; a plan needs the objects that it asks for',
      '[[steps]]: missing; a plan needs at least one',
    ],
  ],
  [
    'a syntax error is told with its line, and without the line itself',
    'url = "do not show this" = 1\n',
    ['line 1, column 26: each key-value declaration must be followed by an end-of-line'],
  ],
  [
    'a misspelt key is told with the nearest one, another with those that are known',
    whole.replace('duration_s', 'duration_ms').replace('objects', 'colour = 1\nobjects'),
    [
      'datasets.small.colour: unknown key; known here: bucket, prefix, objects, seed, sizes',
      'steps[0].duration_ms: unknown key; did you mean steps[0].duration_s?',
      'steps[0]: needs either duration_s or requests, which says when it ends',
    ],
  ],
  [
    'values out of range are told with what is allowed, and secrets without their value',
    whole
      .replace('objects = 10', 'objects = 0')
      .replace('"do not show this"', '["do not show this"]')
      .replace('duration_s = 5', 'duration_s = 0\norder = "random"\nzipf_exponent = 0'),
    [
      'endpoint.secret_access_key = (hidden): must be text of 1 to 4096 characters without line breaks',
      'datasets.small.objects = 0: must be a whole number from 1 to 1000000000',
      'steps[0].order = "random": must be one of "uniform", "zipf", "sequential"',
      'steps[0].zipf_exponent = 0: must be a number above 0 and up to 5',
      'steps[0].duration_s = 0: must be a whole number of s from 1 to 2592000',
      'endpoint.secret_access_key: missing; id and secret come together',
    ],
  ],
  [
    'a step needs a dataset that is there, one end, something to do, and a name of its own',
    whole.replace('dataset = "small"', 'dataset = "large"\nrequests = 7') +
      `${steps}operations = { get = 0 }\n`,
    [
      'steps[0].dataset = "large": there is no such dataset; known here: "small"',
      'steps[0]: needs either duration_s or requests, which says when it ends',
      'steps[1].operations: one share must be above 0; known here: get, head, put, list',
      'steps[1].name = "reads": steps[0] has it already',
    ],
  ],
  [
    'sizes are exact or between two',
    whole.replace(
      '{ bytes = "4KiB" }',
      '{ from = 1 }, { bytes = 1, to = 2 }, { from = 3, to = 2 }',
    ),
    [
      'datasets.small.sizes[0]: needs either bytes, or both from and to',
      'datasets.small.sizes[1]: needs either bytes, or both from and to',
      'datasets.small.sizes[2]: from must not be larger than to',
    ],
  ],
  [
    'the keys of one dataset do not lie among those of another',
    `${whole}${datasets.replace('small', 'large').replace('objects', 'prefix = "large/"\nobjects')}`,
    [
      'datasets.large.prefix: its keys would lie among those of datasets.small; give both a prefix, or a bucket of its own',
    ],
  ],
  [
    'every process needs something to do',
    `processes = 4\n${whole}connections = 2\nrate = 3\n`,
    [
      'steps[0].connections = 2: each of the 4 processes needs at least one',
      'steps[0].rate = 3: each of the 4 processes needs at least one',
    ],
  ],
];

describe('bad plans', () => {
  for (const [title, text, problems] of cases) {
    test(title, () => assert.deepEqual(problemsOf(text), problems));
  }
});

test('credentials come from the environment when the plan has none', () => {
  const bare = whole.replace(/(access_key_id|secret_access_key) = .*\n/g, '');
  const environment = {
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'token',
  };
  const plan = readPlan(bare, 'plan.toml', environment);
  assert.deepEqual(plan.endpoint, {
    url: 'http://127.0.0.1:9000',
    region: 'us-east-1',
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    sessionToken: 'token',
  });
  // A token out of the environment belongs to the environment's keys only.
  assert.equal(readPlan(whole, 'plan.toml', environment).endpoint.sessionToken, null);
});

test('an endpoint on the command line takes the place of the one in the plan', () => {
  const plan = readPlan(whole, 'plan.toml', {}, 'https://example.com/s3/');
  assert.equal(plan.endpoint.url, 'https://example.com/s3');
  assert.equal(plan.endpoint.accessKeyId, 'me');
});

test('the plans in loadtest/plans can be read', () => {
  const root = join(import.meta.dirname, '../../../..');
  const files = globSync('loadtest/plans/*.toml', { cwd: root });
  assert.ok(files.length >= 3, `${files.length} plans`);
  const environment = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  for (const file of files) {
    assert.ok(readPlan(readFileSync(join(root, file), 'utf8'), file, environment).steps.length > 0);
  }
});

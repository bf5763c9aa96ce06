// What bad configurations are told, word for word.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readConfig } from './config.ts';
import { ConfigError } from './problems.ts';

const origin = `
[origin]
endpoint = "http://127.0.0.1:8080"
region = "us-east-1"
access_key_id = "id"
secret_access_key = "an-origin-secret"
`;
const clients = `
[[clients]]
access_key_id = "me"
secret_access_key = "a-client-secret!"
grants = [{ bucket = "*", access = "write" }]
`;
const cluster = `
[cluster]
secret = "a-cluster-secret"
nodes = [{ id = 0, address = "127.0.0.1:9400" }]
`;
const node = `
[node]
id = 0
data_dir = "/tmp/s3accel"
`;
const gateway = `
[gateway]
listen = "127.0.0.1:9000"
`;
const whole = origin + clients + cluster + node + gateway;

function problemsOf(text: string): readonly string[] {
  try {
    readConfig(text, 'bad.toml');
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems;
  }
  return [];
}

const cases: readonly (readonly [title: string, text: string, problems: readonly string[]])[] = [
  ['a good one is told nothing', whole, []],
  [
    'an empty file says nothing of what the process is',
    '',
    ['[node], [gateway]: both are missing; one of them says what this process is'],
  ],
  [
    'a syntax error is told with its line and column, and without the line itself',
    `[cluster]\nsecret = "do not show this" nodes = []\n`,
    ['line 2, column 29: each key-value declaration must be followed by an end-of-line'],
  ],
  [
    'a misspelt key is told with the nearest one that exists',
    whole.replace('listen =', 'lisen ='),
    [
      'gateway.lisen: unknown key; did you mean gateway.listen?',
      'gateway.listen: missing; must be an IP address with a port, such as "10.0.1.10:9400" or "[fd00::1]:9400"; port 0 lets the kernel choose',
    ],
  ],
  [
    'a misspelt table too',
    `${whole}\n[amdin]\nlisten = "127.0.0.1:1"\n`,
    ['amdin: unknown key; did you mean admin?'],
  ],
  [
    'a key in the wrong table is told where it belongs',
    `${whole}\n[cache]\nttl_ms = 5\n`,
    ['cache.ttl_ms: unknown key; did you mean cache.default_policy.ttl_ms?'],
  ],
  [
    'a key like no other is told what there is',
    `${whole}\n[log]\ncolour = true\n`,
    ['log.colour: unknown key; known here: level'],
  ],
  [
    'features to come are refused by name, not ignored',
    `${whole}
[metadata]
url = "https://metadata.example.com"
token = "do-not-show-this"
[events]
queue_url = "https://sqs.us-east-1.amazonaws.com/123456789012/bucket-events"
visibility_timeout_s = 30
[gateway.tls]
certificate = "cert.pem"
[cluster.tls]
certificate = "cert.pem"
[cache]
scrub_interval = "1d"
`,
    [
      "[events] isn't supported yet by this version",
      "[cluster.tls] isn't supported yet by this version",
      "cache.scrub_interval isn't supported yet by this version",
      "[gateway.tls] isn't supported yet by this version",
    ],
  ],
  [
    'there is a loop at least, and a domain is a name alone',
    whole.replace('[gateway]', '[gateway]\nloops = 0\ndomains = ["s3.example.com:9000"]'),
    [
      'gateway.domains = an array: must be an array of at most 64, each a host name in lower case, without a port',
      'gateway.loops = 0: must be a whole number from 1 to 256',
    ],
  ],
  [
    'values out of range are told with what is allowed, all at once',
    `${whole}
[admin]
listen = "localhost:9090"
[cache]
capacity_bytes = "10 parsecs"
fill_budget_bytes = 17
metadata_entries = 1.5
[cache.default_policy]
ttl_ms = -1
immutable = "yes"
[log]
level = "loud"
`,
    [
      'cache.capacity_bytes = "10 parsecs": must be a size from 64 MiB to 1024 TiB, in bytes or such as "10GiB"',
      'cache.fill_budget_bytes = 17: must be a size from 32 MiB to 64 GiB, in bytes or such as "10GiB"',
      'cache.metadata_entries = 1.5: must be a whole number of entries from 1000 to 1000000000',
      'cache.default_policy.immutable = "yes": must be true or false',
      'cache.default_policy.ttl_ms = -1: must be a whole number of ms from 0 to 31536000000',
      'admin.listen = "localhost:9090": must be an IP address with a port, such as "10.0.1.10:9400" or "[fd00::1]:9400"; port 0 lets the kernel choose',
      'log.level = "loud": must be one of "trace", "debug", "info", "warn", "error"',
    ],
  ],
  [
    "a secret's value is never told, wherever it stands",
    `
[origin]
endpoint = "https://user:do-not-show-this/@host"
region = "us-east-1"
access_key_id = "id"
secret_access_key = 12345678
secret_acces_key = "do not show this"
[cluster]
secret = ["do not show this"]
nodes = []
${node}`,
    [
      'origin.secret_acces_key: unknown key; did you mean origin.secret_access_key?',
      'origin.endpoint = "https://(hidden)@host": must be an http or https URL without credentials, query or fragment',
      'origin.secret_access_key = (hidden): must be text of 1 to 4096 characters without line breaks',
      'cluster.secret = (hidden): must be text of 1 to 4096 characters without line breaks',
      'node.id = 0: has no entry in cluster.nodes to say where others reach it; add one, or make node.listen that address',
    ],
  ],
  [
    'an endpoint with a line break in it is no endpoint',
    `
[origin]
endpoint = "http://a\\nb"
region = "us-east-1"
access_key_id = "id"
secret_access_key = "long enough to be no warning"
[node]
id = 0
data_dir = "/tmp/never-made"
[gateway]
listen = "127.0.0.1:9000"
[[clients]]
access_key_id = "id"
secret_access_key = "long enough to be no warning"
grants = [{ bucket = "*", access = "read" }]
`,
    [
      'origin.endpoint = "http://a\\nb": must be an http or https URL without credentials, query or fragment',
    ],
  ],
  [
    'keys of clients have ids of their own, and end at a moment',
    `${whole}
[[clients]]
access_key_id = "other"
secret_access_key = "a-client-secret!"
expires_at = 2027-12-31T00:00:00
keys = [
  { access_key_id = "me", secret_access_key = "a-second-secret!" },
  { access_key_id = "third", secret_access_key = "a-third-secret!!", expires_at = "soon" },
]
grants = [{ bucket = "*", access = "read" }]
`,
    [
      'clients[1].expires_at = a date: must be a date and time with its offset from UTC, such as 2027-12-31T00:00:00Z',
      'clients[1].keys[1].expires_at = "soon": must be a date and time with its offset from UTC, such as 2027-12-31T00:00:00Z',
      'clients[1].keys[0].access_key_id = "me": clients[0] has it already',
    ],
  ],
  [
    "half of an origin's keys is no reason to look for others",
    whole.replace('secret_access_key = "an-origin-secret"', 'session_token = "of a role"'),
    ['origin.secret_access_key: missing; origin.access_key_id needs it'],
  ],
  [
    'a session token alone is none either',
    `${whole}[origins.assets]\nendpoint = "http://127.0.0.1"\nregion = "auto"\nsession_token = "of a role"\n`,
    [
      'origins.assets.access_key_id: missing; origins.assets.session_token needs it',
      'origins.assets.secret_access_key: missing; origins.assets.session_token needs it',
    ],
  ],
  [
    'something else than a table is told as that',
    'node = 1\ngateway = "127.0.0.1:9000"\ncluster = "secret"\norigins = [1]\n[origin]\n[clients]\nid = 1\n',
    [
      'origin.endpoint: missing; must be an http or https URL without credentials, query or fragment',
      'origin.region: missing; must be a region name in lower case',
      'origins: must hold tables, [origins.<bucket>], not an array',
      'cluster: must be a table, [cluster], not text',
      'node: must be a table, [node], not a number',
      'clients: must be an array of tables, not a table',
      'gateway: must be a table, [gateway], not text',
    ],
  ],
  [
    'grants are judged one by one, with their place',
    whole.replace(
      /grants = .*/,
      'grants = [{ bucket = "b", access = "read" }, { bucket = "tables", access = "admin", prefx = "a/" }, "all"]',
    ),
    [
      'clients[0].grants[0].bucket = "b": must be a bucket name, or "*" for all',
      'clients[0].grants[1].prefx: unknown key; did you mean clients[0].grants[1].prefix?',
      'clients[0].grants[1].access = "admin": must be one of "read", "write"',
      'clients[0].grants[2]: must be a table, not text',
    ],
  ],
  [
    'ids, addresses and credentials that are there twice are told with both places',
    whole.replace(
      /nodes = .*/,
      `nodes = [{ id = 0, address = "127.0.0.1:9400" }, { id = 1, address = "127.0.0.1:9400" }, { id = 0, address = "[::1]:9400" }]`,
    ) + clients,
    [
      'cluster.nodes[2].id = 0: cluster.nodes[0] has it already',
      'cluster.nodes[1].address = "127.0.0.1:9400": cluster.nodes[0] has it already',
      'clients[1].access_key_id = "me": clients[0] has it already',
    ],
  ],
  [
    'listeners that get in the way of another are told',
    `${whole}\n[admin]\nlisten = "0.0.0.0:9400"\n`.replace('127.0.0.1:9000', '127.0.0.1:9400'),
    [
      'node.listen = "127.0.0.1:9400": gateway.listen is there already',
      'admin.listen = "0.0.0.0:9400": gateway.listen is there already',
    ],
  ],
  [
    'a gateway alone needs nodes and clients',
    gateway,
    [
      '[cluster]: missing; a gateway without [node] needs cluster.nodes to read from',
      '[[clients]]: missing; a gateway needs at least one, or [metadata], or nobody could use it',
    ],
  ],
  [
    'a gateway alone in an empty cluster too',
    gateway + clients + '[cluster]\nsecret = "a-cluster-secret"\n',
    ['cluster.nodes: missing; a gateway without [node] needs nodes to read from'],
  ],
  [
    'a node alone needs a cluster and an origin',
    node,
    [
      '[cluster]: missing; a node without [gateway] needs it to be reached',
      '[origin]: missing; a node needs it, or an [origins.<bucket>] or [metadata], to read from',
    ],
  ],
  [
    'a node that listens needs a secret to know who connects',
    (origin + clients + node + gateway).replace('[node]', '[node]\nlisten = "127.0.0.1:9400"'),
    ['[cluster]: missing; node.listen needs cluster.secret to know who connects'],
  ],
  [
    'a node that the cluster does not know is told, and a client without grants',
    (origin + clients + cluster + node + gateway)
      .replace('[node]\nid = 0', '[node]\nid = 3')
      .replace(/grants = .*/, 'grants = []'),
    [
      'node.id = 3: has no entry in cluster.nodes to say where others reach it; add one, or make node.listen that address',
      'clients[0].grants: missing; a client without any may do nothing',
    ],
  ],
  [
    'a node without an entry needs an address that others can be told',
    (origin + clients + cluster + node + gateway).replace(
      '[node]\nid = 0',
      '[node]\nid = 3\nlisten = "0.0.0.0:9403"',
    ),
    [
      'node.id = 3: has no entry in cluster.nodes to say where others reach it; add one, or make node.listen that address',
    ],
  ],
  [
    'a node does not listen where the cluster knows another one',
    (origin + clients + cluster + node + gateway).replace(
      '[node]\nid = 0',
      '[node]\nid = 3\nlisten = "127.0.0.1:9400"',
    ),
    [
      'node.id = 3: cluster.nodes has node 0 at node.listen = "127.0.0.1:9400"; one of the two ids is wrong',
    ],
  ],
  [
    'a node without an entry has no weight among those that have one',
    (origin + clients + cluster + node + gateway)
      .replace('[node]\nid = 0', '[node]\nid = 3\nlisten = "127.0.0.1:9403"')
      .replace('9400" }', '9400", weight = 3800 }'),
    ['node.id = 3: has no entry in cluster.nodes to give its weight, and others there have one'],
  ],
  [
    'names of buckets are judged as well',
    `${whole}\n[cache.buckets."no/slash"]\nttl_ms = 5\n[cache.buckets."with space"]\n[origins.ab]\n`,
    [
      'origins.ab: its name must be a bucket name: 3 to 255 letters, digits, dots, dashes or underscores',
      'cache.buckets."no/slash": its name must be a bucket name: 3 to 255 letters, digits, dots, dashes or underscores',
      'cache.buckets."with space": its name must be a bucket name: 3 to 255 letters, digits, dots, dashes or underscores',
    ],
  ],
  [
    'names out of JavaScript are names like any other',
    `${whole}\n[constructor]\nx = 1\n["__proto__"]\nlisten = 1\n`,
    [
      'constructor: unknown key; known here: origin, origins, metadata, cluster, node, cache, clients, gateway, admin, log',
      '__proto__: unknown key; known here: origin, origins, metadata, cluster, node, cache, clients, gateway, admin, log',
    ],
  ],
];

describe('bad configurations', () => {
  for (const [title, text, problems] of cases) {
    test(title, () => assert.deepEqual(problemsOf(text), problems));
  }
});

test('the message counts the problems under the name of the file', () => {
  assert.equal(
    new ConfigError('a.toml', ['one: bad', 'two: worse']).message,
    'a.toml: 2 problems\n  one: bad\n  two: worse',
  );
});

test('what has no effect is a warning', () => {
  const { warnings } = readConfig(
    `${whole}\n[cache.buckets.tables]\nimmutable = true\nttl_ms = 5\n`.replace(
      'a-client-secret!',
      'short',
    ),
    'warned.toml',
  );
  assert.deepEqual(warnings, [
    'clients[0].secret_access_key is shorter than 16 characters and could be guessed: use a long random one',
    'cache.buckets.tables: ttl_ms has no effect where immutable = true',
  ]);
});

test('tables of the other role are warnings', () => {
  const asGateway = readConfig(origin + clients + cluster + gateway, 'gateway.toml');
  assert.deepEqual(asGateway.warnings, [
    '[origin] and [origins] have no effect without [node]: only nodes ask S3',
  ]);
  const asNode = readConfig(origin + clients + cluster + node, 'node.toml');
  assert.deepEqual(asNode.warnings, [
    '[[clients]] has no effect without [gateway]: only gateways check clients',
  ]);
});

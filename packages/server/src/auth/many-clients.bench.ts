// 10,000 clients with 100,000 grants: how long a process takes to know them, and what they cost a request.
//
// Run it alone: `node packages/server/src/auth/many-clients.bench.ts`. The targets are one second, and one microsecond a request
// more than with a single client that has a single grant.
import { parseArgs } from 'node:util';
import { Digester } from '@s3-accelerator/native/digester.ts';
import { readConfig } from '../config/config.ts';
import { ClientTable } from './clients.ts';
import { configuredClients } from './configured-clients.ts';
import { authorize, type GrantSet } from './grants.ts';
import { SigningKeys } from './signing-keys.ts';

export interface ManyClientsResult {
  readonly clients: number;
  readonly grants: number;
  /** From the text of a configuration to a table that requests can be held against. */
  readonly loadMs: number;
  readonly ofWhichTomlMs: number;
  /** A look for the client of a known scope, and the judging of a GET: of one client, and of all in turn. */
  readonly aloneNs: number;
  readonly amongManyNs: number;
  /** Judging against one client that holds all grants. */
  readonly allGrantsNs: number;
}

const head = `
[origin]
endpoint = "http://127.0.0.1:1"
region = "us-east-1"
[node]
id = 0
data_dir = "/tmp/nowhere"
[gateway]
listen = "127.0.0.1:9000"
`;

function clientTable(index: number, grants: number): string {
  const rows = Array.from({ length: grants }, (_, at) => {
    return `{ bucket = "bucket-${(index + at) % 1000}", prefix = "team-${index}/set-${at}/", access = "read" }`;
  });
  return `
[[clients]]
access_key_id = "client-${index}"
secret_access_key = "secret-of-the-client-${index}"
grants = [${rows.join(', ')}]
`;
}

export function manyClients(
  clients: number,
  grantsEach: number,
  requests: number,
): ManyClientsResult {
  const tables = Array.from({ length: clients }, (_, index) => clientTable(index, grantsEach));
  const text = head + tables.join('');
  const started = performance.now();
  const { config } = readConfig(text, 'many-clients.toml');
  const read = performance.now();
  const table = new ClientTable(configuredClients(config.clients));
  const loaded = performance.now();

  const keys = new SigningKeys(new Digester(1 << 16), table, 'us-east-1', clients);
  const scopeOf = (index: number): string => `client-${index}/20261129/us-east-1/s3/aws4_request`;
  const scopes = Array.from({ length: clients }, (_, index) => scopeOf(index));
  const all = table.find('client-0');
  if (all === null) throw new Error('the first client is known');
  const grantsOf = (credential: string): GrantSet => {
    const found = keys.find(credential);
    if (!found.ok) throw new Error('the client is known');
    return found.scope.client.grants;
  };
  for (const scope of scopes) grantsOf(scope);
  const time = (credentialOf: (request: number) => string): number => {
    let allowed = 0;
    const begin = performance.now();
    for (let request = 0; request < requests; request += 1) {
      const granted = grantsOf(credentialOf(request));
      if (isAllowed(granted, 'bucket-1', 'team-1/set-0/key')) allowed += 1;
    }
    const ns = ((performance.now() - begin) * 1e6) / requests;
    if (allowed === 0) throw new Error('somebody may read that');
    return ns;
  };
  const only = scopes[1] ?? scopes[0]!;
  time(() => only);
  const aloneNs = time(() => only);
  const amongManyNs = time((request) => scopes[request % clients]!);
  return {
    clients,
    grants: clients * grantsEach,
    loadMs: loaded - started,
    ofWhichTomlMs: read - started,
    aloneNs,
    amongManyNs,
    allGrantsNs: allGrantsNs(clients * grantsEach, requests),
  };
}

function isAllowed(grants: GrantSet, bucket: string, key: string): boolean {
  const wanted = {
    operation: 'GetObject',
    resource: { bucket, key },
    prefix: '',
    copySource: null,
  } as const;
  return authorize(grants, wanted) === null;
}

function allGrantsNs(count: number, requests: number): number {
  const grants = Array.from({ length: count }, (_, at) => {
    return { bucket: 'bucket-1', prefix: `team-${at}/`, access: 'read' } as const;
  });
  const table = new ClientTable([{ accessKeyId: 'a', secretAccessKey: 's', grants }]);
  const held = table.find('a')?.grants;
  if (held === undefined) throw new Error('the client is known');
  const begin = performance.now();
  for (let request = 0; request < requests; request += 1) {
    if (!isAllowed(held, 'bucket-1', `team-${request % count}/key`))
      throw new Error('it is granted');
  }
  return ((performance.now() - begin) * 1e6) / requests;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
  const result = manyClients(10_000, 10, 1_000_000);
  if (values.json) {
    console.log(JSON.stringify(result));
  } else {
    console.log(`${result.clients} clients with ${result.grants} grants`);
    console.log(
      `  load                     ${result.loadMs.toFixed(0)} ms (of which the file ${result.ofWhichTomlMs.toFixed(0)} ms), target 1000`,
    );
    console.log(`  a request, one client    ${result.aloneNs.toFixed(0)} ns`);
    console.log(`  a request, among many    ${result.amongManyNs.toFixed(0)} ns, target +1000`);
    console.log(`  a request, all grants    ${result.allGrantsNs.toFixed(0)} ns`);
  }
}

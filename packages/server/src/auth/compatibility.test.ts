// docs/compatibility.md against the code: every row is recognised, needs what the page says of each kind of grant, and nothing that
// the code knows is missing from the page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parsePath, splitTarget } from '@s3-accelerator/core/s3/object-key.ts';
import { parseQuery, queryValue } from '@s3-accelerator/core/s3/query.ts';
import { isCacheable } from '../gateway/cacheable.ts';
import { RequestHead, type RequestMethod } from '../http/request-head.ts';
import { newHeadProgress, RequestParser } from '../http/request-parser.ts';
import { authorize, GrantSet, neededRight, type Grant, type Right } from './grants.ts';
import { operationOf, refusedOperations, type Operation } from './operation.ts';

const page = readFileSync(new URL('../../../../docs/compatibility.md', import.meta.url), 'utf8');

/** The cells of the rows of all tables with so many columns, without their heads. */
function rowsOf(columns: number): string[][] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter((cells) => cells.length === columns);
}

/** Whether a plain request of that kind is one that the cache answers. */
function isCached({ method, target }: Asked, operation: Operation): boolean {
  const bytes = Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: h\r\n\r\n`, 'latin1');
  const parser = new RequestParser(new RequestHead());
  assert.equal(parser.parse(bytes, bytes, 0, bytes.length, newHeadProgress()), 'complete');
  return isCacheable(operation, parser.head, parseQuery(splitTarget(target).query) ?? []);
}

interface Asked {
  readonly method: RequestMethod;
  readonly target: string;
  readonly copies: boolean;
}

const source = { bucket: 'source', key: 'dir/key', versionId: null };

function operationFor({ method, target, copies }: Asked): Operation | null {
  const { path, query } = splitTarget(target);
  const parsed = parsePath(path);
  assert.ok(parsed.ok, target);
  return operationOf(method, parsed.resource, parseQuery(query) ?? [], copies);
}

function allows(grants: readonly Grant[], asked: Asked): boolean {
  const { path, query } = splitTarget(asked.target);
  const parsed = parsePath(path);
  const operation = operationFor(asked);
  assert.ok(parsed.ok && operation !== null, asked.target);
  const wanted = {
    operation,
    resource: parsed.resource,
    prefix: queryValue(parseQuery(query) ?? [], 'prefix') ?? '',
    copySource: asked.copies ? source : null,
  };
  return authorize(new GrantSet(grants), wanted) === null;
}

const grant = (access: 'read' | 'write', bucket: string, prefix = ''): Grant => ({
  bucket,
  prefix,
  access,
});
const kinds = {
  nothing: [],
  'read elsewhere': [grant('read', 'other')],
  'write elsewhere': [grant('write', 'other')],
  'read another prefix': [grant('read', 'bucket', 'x/')],
  'write another prefix': [grant('write', 'bucket', 'x/')],
  'read key': [grant('read', 'bucket', 'key')],
  'write key': [grant('write', 'bucket', 'key')],
  'read prefix': [grant('read', 'bucket', 'dir/')],
  'write prefix': [grant('write', 'bucket', 'dir/')],
  'read bucket': [grant('read', 'bucket')],
  'write bucket': [grant('write', 'bucket')],
  'read all': [grant('read', '*')],
  'write all': [grant('write', '*')],
  'write key, read source': [grant('write', 'bucket', 'key'), grant('read', 'source', 'dir/')],
  'write key, read another source': [grant('write', 'bucket', 'key'), grant('read', 'source', 'x')],
  'read key, write source': [grant('read', 'bucket', 'key'), grant('write', 'source')],
} as const satisfies Record<string, readonly Grant[]>;
type Kind = keyof typeof kinds;

const writeBucket: readonly Kind[] = ['write bucket', 'write all'];
const readBucket: readonly Kind[] = ['read bucket', 'read all', ...writeBucket];
const writeKey: readonly Kind[] = [
  ...(['write key', 'write key, read source', 'write key, read another source'] as const),
  ...writeBucket,
];
const inBucket = Object.keys(kinds).filter(
  (kind) => kind !== 'nothing' && !kind.endsWith('elsewhere'),
) as Kind[];

/** What the page's words for a right mean: exactly these kinds of grants. */
const words: Readonly<Record<string, { readonly right: Right; readonly kinds: readonly Kind[] }>> =
  {
    none: { right: 'filteredBuckets', kinds: Object.keys(kinds) as Kind[] },
    any: { right: 'anyInBucket', kinds: inBucket },
    'read prefix': { right: 'readPrefix', kinds: ['read prefix', 'write prefix', ...readBucket] },
    'read key': {
      right: 'readKey',
      kinds: ['read key', 'read key, write source', ...writeKey, ...readBucket],
    },
    'write key': { right: 'writeKey', kinds: writeKey },
    'write key, read source': {
      right: 'writeKeyReadSource',
      kinds: ['write key, read source', 'write all'],
    },
    'write each key': {
      right: 'writeEachKey',
      kinds: inBucket.filter((kind) => kind.startsWith('write')),
    },
    'read bucket': { right: 'readBucket', kinds: readBucket },
    'write bucket': { right: 'writeBucket', kinds: writeBucket },
  };

function assertNeeds(asked: Asked, needs: string): void {
  const word = words[needs];
  assert.ok(word !== undefined, needs);
  const operation = operationFor(asked);
  assert.ok(operation !== null);
  assert.equal(neededRight[operation], word.right, operation);
  for (const [kind, grants] of Object.entries(kinds)) {
    const expected = word.kinds.includes(kind as Kind);
    assert.equal(allows(grants, asked), expected, `${operation} with ${kind}`);
  }
}

const seen = new Set<Operation>();

test('every row is the operation that it says, treated as it says, for each kind of grant', () => {
  const rows = rowsOf(4);
  assert.ok(rows.length > 40, `only ${rows.length} rows`);
  for (const [name = '', request = '', happens = '', needs = ''] of rows) {
    const match = /^`([A-Z]+) (\S+)`/.exec(request);
    assert.ok(match !== null, request);
    const method = match[1] as RequestMethod;
    const asked = { method, target: match[2]!, copies: request.includes('x-amz-copy-source') };
    const operation = operationFor(asked);
    assert.equal(`\`${operation}\``, name, request);
    assert.ok(operation !== null);
    seen.add(operation);
    assertNeeds(asked, needs);
    assert.equal(happens === 'cached', isCached(asked, operation), `${name}: ${happens}`);
    assert.equal(happens === 'refused', refusedOperations.has(operation), `${name}: ${happens}`);
    assert.equal(happens === 'filtered', operation === 'ListBuckets', name);
    assert.equal(happens === 'checked', neededRight[operation] === 'writeEachKey', name);
  }
});

test('every setting of a bucket is read and written by whom the page says', () => {
  const rows = rowsOf(3);
  assert.ok(rows.length > 20, `only ${rows.length} rows`);
  for (const [subresource = '', , methods = ''] of rows) {
    const target = `/bucket?${subresource.replaceAll('`', '')}`;
    for (const method of methods.split(', ') as RequestMethod[]) {
      const asked = { method, target, copies: false };
      const operation = method === 'GET' ? 'ReadBucketSettings' : 'WriteBucketSettings';
      assert.equal(operationFor(asked), operation, `${method} ${target}`);
      seen.add(operation);
      assertNeeds(asked, method === 'GET' ? 'read bucket' : 'write bucket');
    }
  }
});

test('every operation that the code knows is on the page', () => {
  const missing = Object.keys(neededRight).filter((operation) => !seen.has(operation as Operation));
  assert.deepEqual(missing, ['Unknown']);
});

test('what is on no table needs write on the whole bucket', () => {
  for (const target of [
    '/bucket?unknown',
    '/bucket/key?unknown',
    '/bucket?acl&policy',
    '/bucket/key?policy',
  ]) {
    for (const method of ['GET', 'PUT', 'POST', 'DELETE'] as const) {
      assertNeeds({ method, target, copies: false }, 'write bucket');
    }
  }
});

// What S3 says about objects: every kind of header, on every kind of read, asked of memory-s3 itself, of a cold cache and of a
// warm one. The three answers are the same, header by header, but for those that two servers may differ in.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import type { Answer } from '../testing/raw-connection.ts';
import { arrangements, assertNothingInUse, startRig, type Rig } from '../testing/rig.ts';
import type { S3Client } from '../testing/s3-client.ts';
import { pathOf, type HeaderLine } from '../testing/sign.ts';
import { version } from '../testing/versions.ts';

interface Kind {
  readonly name: string;
  readonly key?: string;
  readonly bytes?: Buffer;
  /** As the PUT sends them. */
  readonly sent?: Readonly<Record<string, string>>;
  /** As every read answers them. */
  readonly answered?: Readonly<Record<string, string>>;
}

const kinds: readonly Kind[] = [
  { name: 'nothing but bytes' },
  {
    name: 'content headers',
    sent: {
      'content-type': 'text/plain; charset="utf-8"',
      'content-language': 'de, en',
      'content-disposition': `attachment; filename="a;b.txt"; filename*=UTF-8''%C3%A9`,
      'cache-control': 'public, max-age=31536000, immutable',
      expires: 'Thu, 01 Jan 2037 00:00:00 GMT',
    },
  },
  { name: 'a date that is none', sent: { expires: '0', 'cache-control': '' } },
  { name: 'an encoding', bytes: version('gz', 900), sent: { 'content-encoding': 'gzip' } },
  { name: 'two encodings', sent: { 'content-encoding': 'br, gzip' } },
  {
    name: 'metadata',
    sent: {
      'x-amz-meta-empty': '',
      'x-amz-meta-spaces': 'two  and   three',
      'x-amz-meta-under_score.dot': 'a',
      'x-amz-meta-bytes': Buffer.from('é漢').toString('latin1'),
      'x-amz-meta-encoded': '=?UTF-8?B?w6k=?=',
      'x-amz-meta-long': 'y'.repeat(1800),
    },
  },
  { name: 'a storage class', sent: { 'x-amz-storage-class': 'STANDARD_IA' } },
  { name: 'encryption', sent: { 'x-amz-server-side-encryption': 'AES256' } },
  {
    name: 'encryption by a key',
    sent: {
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'arn:aws:kms:us-east-1:1:key/a',
    },
    answered: { 'x-amz-server-side-encryption-bucket-key-enabled': 'true' },
  },
  { name: 'a website', sent: { 'x-amz-website-redirect-location': '/other?x=1#y' } },
  { name: 'a version', answered: { 'x-amz-version-id': '3HL4kqtJlcpXroDTDmJ+rmSpXd3dIbrHY' } },
  { name: 'replication', answered: { 'x-amz-replication-status': 'COMPLETED' } },
  {
    name: 'an expiration',
    answered: {
      'x-amz-expiration': 'expiry-date="Fri, 21 Dec 2029 00:00:00 GMT", rule-id="a, b"',
    },
  },
  {
    name: 'a lock',
    answered: {
      'x-amz-object-lock-mode': 'COMPLIANCE',
      'x-amz-object-lock-retain-until-date': '2030-01-01T00:00:00.000Z',
      'x-amz-object-lock-legal-hold': 'ON',
    },
  },
  { name: 'a restored copy', answered: { 'x-amz-restore': 'ongoing-request="false"' } },
  { name: 'headers of tomorrow', answered: { 'x-amz-unknown': '1', 'x-unknown': 'a, b' } },
  ...['//', 'a/../b', './x', 'a b+c%2F&?#', "!*'();:@&=$,", 'é漢😀', 'x'.repeat(1024), 'end/'].map(
    (key): Kind => ({ name: `the key ${key.slice(0, 20)}`, key }),
  ),
  { name: 'no bytes at all', bytes: Buffer.alloc(0), sent: { 'x-amz-meta-a': 'b' } },
  {
    name: 'a block and some',
    bytes: version('block', (1 << 20) + 1),
    sent: { 'x-amz-meta-a': 'b' },
  },
];

interface Read {
  readonly method: 'GET' | 'HEAD';
  readonly query?: string;
  readonly headers?: readonly HeaderLine[];
}

/** Any read there is: whole, a part, without a body, by conditions, with overrides and checksums. */
const overriding = 'response-content-type=text%2Fcsv&response-cache-control=no-store';
/** What some header can't hold or some reader reads otherwise, and all six at once. */
const oddOverrides = [
  'response-content-type=',
  'response-content-type=%20text%2Fcsv%20',
  'response-content-type=a%0D%0Ainjected:%20b',
  'response-content-type=a%00b',
  'response-content-disposition=%C3%A9',
  'response-content-disposition=attachment%3B+filename%3Da',
  'response-content-disposition=attachment;filename=a',
  `response-content-language=${'a'.repeat(1100)}`,
  'response-content-type=a%2Fb&response-content-disposition=inline%3B%20filename%3D%22a%20b%22' +
    '&response-cache-control=no-cache&response-content-language=de&response-content-encoding=x' +
    '&response-expires=Thu%2C%2001%20Jan%202026%2000%3A00%3A00%20GMT',
];

function readsOf(etag: string): Read[] {
  const headers: (readonly HeaderLine[])[] = [
    [],
    [['range', 'bytes=1-3']],
    [['range', 'bytes=-2']],
    [['range', 'bytes=99999999-']],
    [['x-amz-checksum-mode', 'ENABLED']],
    [
      ['x-amz-checksum-mode', 'ENABLED'],
      ['range', 'bytes=0-1'],
    ],
    [['if-none-match', etag]],
    [['if-match', '"other"']],
    [['if-modified-since', 'Thu, 01 Jan 2037 00:00:00 GMT']],
    [['accept-encoding', 'gzip, br']],
  ];
  return (['GET', 'HEAD'] as const).flatMap((method) => [
    ...headers.map((one): Read => ({ method, headers: one })),
    ...headers.map((one): Read => ({ method, headers: one, query: overriding })),
    ...oddOverrides.map((query): Read => ({ method, query })),
    { method, query: 'x-id=GetObject' },
    { method, query: 'partNumber=1' },
  ]);
}

/** What two servers may differ in: when and by whom it was answered, and what belongs to one connection. */
const allowed = new Set([
  'date',
  'x-amz-request-id',
  'x-amz-id-2',
  'server',
  'connection',
  'keep-alive',
]);

/** S3 repeats these of an object in a 304; more of them is allowed. */
const ofNotModified = new Set(['etag', 'last-modified', 'cache-control', 'expires']);

function shown({ status, headers, body, isCut }: Answer): unknown {
  const isError = status >= 400;
  const compared = headers.filter(([name]) => {
    if (status === 304) return ofNotModified.has(name);
    // Error documents name their request, and so differ in length.
    return !allowed.has(name) && !(isError && name === 'content-length');
  });
  return {
    status,
    isCut,
    headers: compared.map(([name, value]) => `${name}: ${value}`).sort(),
    body: isError
      ? /<Code>([^<]*)<\/Code>/.exec(body.toString('latin1'))?.[1]
      : createHash('md5').update(body).digest('hex'),
  };
}

for (const { name, processes } of arrangements) {
  suite(`what S3 says about objects, through ${name}`, () => {
    let rig: Rig;
    let reads = 0;
    before(async () => {
      rig = await startRig({ processes, cache: '[cache.default_policy]\nimmutable = true' });
    });
    after(async () => {
      assert.ok(reads > 700, `only ${reads} reads were compared`);
      await assertNothingInUse(rig.cluster);
      await rig.stop();
    });

    async function ask(client: S3Client, key: string, read: Read): Promise<unknown> {
      const path = pathOf('bucket', key);
      const target = read.query === undefined ? path : `${path}?${read.query}`;
      const { method, headers = [] } = read;
      return { read, answer: shown(await client.call({ method, target, headers })) };
    }

    for (const [index, kind] of kinds.entries()) {
      test(kind.name, async () => {
        const key = kind.key ?? `kind-${index}`;
        const bytes = kind.bytes ?? version(kind.name, 300);
        const etag = rig.s3.put('bucket', key, bytes, kind.sent, kind.answered);
        // The first read of the key is as cold as can be, then each is asked until it comes from what is stored.
        for (const read of readsOf(`"${etag}"`)) {
          const wanted = await ask(rig.direct, key, read);
          for (let time = 1; time <= 2; time += 1, reads += 1) {
            assert.deepEqual(await ask(rig.client, key, read), wanted, `time ${time}`);
          }
        }
      });
    }
  });
}

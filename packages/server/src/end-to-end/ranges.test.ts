// Hundreds of reads, each asked of memory-s3 itself, of a cold cache and of a warm one: the three answers are the same in status,
// headers and bytes. Objects end and ranges begin at and beside every border there is: bytes, small answers, blocks, chunks, and
// the length up to which an object lives wholly on its home.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import type { Answer } from '../testing/raw-connection.ts';
import { arrangements, assertNothingInUse, startRig, type Rig } from '../testing/rig.ts';
import type { S3Client } from '../testing/s3-client.ts';
import { pathOf, type HeaderLine } from '../testing/sign.ts';
import { version } from '../testing/versions.ts';

const kib = 1 << 10;
const mib = 1 << 20;

const objects: ReadonlyMap<string, number> = new Map([
  ['empty', 0],
  ['one', 1],
  ['ten', 10],
  ['small', 32 * kib],
  ['small-and-one', 32 * kib + 1],
  ['block', mib],
  ['block-and-one', mib + 1],
  ['blocks', 3 * mib - 1],
  ['chunk-and-some', 17 * mib + 5],
  ['beyond-home', 34 * mib + 7],
]);

/** Ranges at and beside the borders of an object; more of them, and shorter ones, for objects of many blocks. */
function rangesOf(size: number): string[] {
  const ranges = ['1-', '0-0', '-1', '-0', '0-9', '5-3', '8-', '10-', '-10', '-11', '-100'];
  if (size > 10) {
    const last = size - 1;
    ranges.push(`${last}-`, `${size}-`, `${last}-${last + 100}`, `-${size + 1}`);
    ranges.push(`${Math.floor(size / 2)}-${Math.floor(size / 2) + 99}`);
  }
  if (size > 10 && size < 4 * mib) {
    const last = size - 1;
    ranges.push('0-', `-${size}`, `0-${last}`, `0-${last - 1}`);
  }
  const borders = [32 * kib, mib, 2 * mib, 16 * mib, 32 * mib, 34 * mib];
  for (const border of borders.filter((one) => one < size)) {
    ranges.push(`${border - 1}-${border}`, `${border}-${border}`, `${border - 1}-${border - 1}`);
    ranges.push(`${border - 40_000}-${border + 40_000}`, `${border}-${border + 32 * kib - 1}`);
  }
  if (size > 4 * mib) ranges.push(`-${mib}`, `-${mib + 1}`, `${size - 3 * mib}-${size - 1}`);
  return ranges.map((range) => `bytes=${range}`);
}

const strange = [
  'bytes=0-1,3-4',
  'bytes=a-b',
  'bytes=',
  'bytes=-',
  'lines=0-3',
  'bytes = 0-3',
  'bytes=0-3 ',
  'bytes=0x1-0x2',
  'bytes=18446744073709551616-',
  'bytes=0-99999999999999999999',
];

/** Conditions that hold and that don't, alone and together, around an object's ETag and date. */
function conditionsOf(etag: string, lastModified: string): (readonly HeaderLine[])[] {
  const date = Date.parse(lastModified);
  const http = (ms: number): string => new Date(ms).toUTCString();
  const [same, earlier, later] = [http(date), http(date - 60_000), http(date + 60_000)];
  const other = '"00000000000000000000000000000000"';
  const single: HeaderLine[] = [
    ...[etag, etag.replaceAll('"', ''), other, '*', `${other}, ${etag}`].flatMap(
      (value): HeaderLine[] => [
        ['if-match', value],
        ['if-none-match', value],
      ],
    ),
    ['if-none-match', `W/${etag}`],
    ...[same, earlier, later, 'not a date'].flatMap((value): HeaderLine[] => [
      ['if-modified-since', value],
      ['if-unmodified-since', value],
    ]),
  ];
  return [
    ...single.map((one) => [one]),
    [
      ['if-match', etag],
      ['if-unmodified-since', earlier],
    ],
    [
      ['if-match', other],
      ['if-unmodified-since', later],
    ],
    [
      ['if-none-match', other],
      ['if-modified-since', later],
    ],
    [
      ['if-none-match', etag],
      ['if-modified-since', earlier],
    ],
    [
      ['if-match', etag],
      ['if-none-match', etag],
    ],
    [
      ['if-match', other],
      ['if-none-match', other],
    ],
  ];
}

interface Case {
  readonly method: 'GET' | 'HEAD';
  readonly key: string;
  readonly query?: string;
  readonly headers: readonly HeaderLine[];
}

/** What two servers may differ in. */
const ownHeaders = new Set([
  'date',
  'x-amz-request-id',
  'x-amz-id-2',
  'x-accel-origin-request-id',
  'server',
  'connection',
  'keep-alive',
]);

/** What a 304 has to say; it may say more about the object. */
const notModifiedHeaders = new Set(['etag', 'last-modified', 'cache-control', 'content-length']);

function shown({ status, headers, body, isCut }: Answer): unknown {
  const compared = headers.filter(([name]) =>
    status === 304 ? notModifiedHeaders.has(name) : !ownHeaders.has(name),
  );
  // Error documents name requests and hosts of their own: there the code counts.
  const code = /<Code>([^<]*)<\/Code>/.exec(body.toString('latin1', 0, 500))?.[1];
  const isError = status >= 400;
  return {
    status,
    isCut,
    headers: (isError ? compared.filter(([name]) => name !== 'content-length') : compared)
      .map(([name, value]) => `${name}: ${value}`)
      .sort(),
    body: isError ? code : `${body.length} ${createHash('md5').update(body).digest('hex')}`,
  };
}

async function ask(client: S3Client, one: Case): Promise<unknown> {
  const target = `${pathOf('bucket', one.key)}${one.query === undefined ? '' : `?${one.query}`}`;
  return shown(await client.call({ method: one.method, target, headers: one.headers }));
}

/** The request and its answer, told so that a failure says which one it was. */
function told(one: Case, answer: unknown): unknown {
  return { request: one, answer };
}

for (const { name, processes } of arrangements) {
  suite(`answers through ${name} are S3’s own`, () => {
    let rig: Rig;
    before(async () => {
      rig = await startRig({ processes, cache: '[cache.default_policy]\nimmutable = true' });
      for (const [key, size] of objects) {
        rig.s3.put('bucket', key, version(key, size), {
          'content-type': 'text/x-test; charset=utf-8',
          'cache-control': 'max-age=60, private',
          'content-disposition': 'attachment; filename="a b.txt"',
          'x-amz-meta-name': 'a  value   with spaces',
        });
      }
    });
    after(async () => {
      await assertNothingInUse(rig.cluster);
      await rig.stop();
    });

    /** Cold where the key was never asked for; asked three times, so that the last answer comes from what is stored. */
    async function assertSame(cases: readonly Case[]): Promise<void> {
      for (const one of cases) {
        const wanted = told(one, await ask(rig.direct, one));
        for (let read = 0; read < 3; read++) {
          assert.deepEqual(told(one, await ask(rig.client, one)), wanted, `read ${read + 1}`);
        }
      }
    }

    /** A copy of an object under a key that nothing has read yet. */
    let copies = 0;
    function coldCopy(key: string): string {
      const cold = `cold/${key}/${++copies}`;
      rig.s3.put('bucket', cold, version(key, objects.get(key)!));
      return cold;
    }

    for (const [key, size] of objects) {
      test(`ranges of ${key} (${size} bytes), cold and warm`, async () => {
        const ranges = [...rangesOf(size), ...(size === 10 ? strange : [])];
        for (const [index, range] of ranges.entries()) {
          const headers = [['range', range]] as const;
          // A cold read of its own for every range of the smaller objects; the long ones get colder less often.
          const own = size <= 3 * mib || index % 16 === 3 ? coldCopy(key) : key;
          await assertSame([
            { method: 'GET', key: own, headers },
            { method: 'HEAD', key: own, headers },
          ]);
          if (own !== key) rig.s3.delete('bucket', own);
        }
        await assertSame([
          { method: 'GET', key, headers: [] },
          { method: 'HEAD', key, headers: [] },
        ]);
      });
    }

    test('conditions, alone and with ranges', async () => {
      for (const key of ['empty', 'ten', 'block-and-one']) {
        const head = await rig.direct.head('bucket', key);
        const conditions = conditionsOf(head.header('etag'), head.header('last-modified'));
        const ranges: readonly (readonly HeaderLine[])[] = [
          [],
          [['range', 'bytes=2-5']],
          [['range', 'bytes=99999999-']],
        ];
        for (const condition of conditions) {
          const cold = coldCopy(key);
          for (const range of ranges) {
            const headers = [...condition, ...range];
            await assertSame([
              { method: 'GET', key: cold, headers },
              { method: 'HEAD', key: cold, headers },
              { method: 'GET', key, headers },
              { method: 'HEAD', key, headers },
            ]);
          }
        }
      }
    });

    test('what a client overrides changes its own answer alone', async () => {
      const overrides = [
        'response-content-type=text%2Fplain',
        'response-content-disposition=inline',
        'response-cache-control=no-store&response-content-language=de',
        'response-expires=Thu%2C%2001%20Jan%202026%2000%3A00%3A00%20GMT&response-content-encoding=x',
      ];
      for (const key of ['ten', 'block-and-one']) {
        for (const query of overrides) {
          await assertSame([
            { method: 'GET', key, query, headers: [] },
            { method: 'GET', key, headers: [] },
            { method: 'HEAD', key, query, headers: [['range', 'bytes=1-3']] },
            { method: 'HEAD', key, headers: [] },
          ]);
        }
      }
    });

    test('objects with odd headers come as they are', async () => {
      const compressed = Buffer.from('1f8b0800000000000003030000000000', 'hex');
      rig.s3.put('bucket', 'gzip', compressed, { 'content-encoding': 'gzip' });
      rig.s3.put('bucket', 'long', 'x', { 'x-amz-meta-long': 'y'.repeat(1900) });
      rig.s3.put('bucket', 'utf8', 'x', {
        'x-amz-meta-name': Buffer.from('é漢').toString('latin1'),
      });
      for (const key of ['gzip', 'long', 'utf8']) {
        await assertSame([
          { method: 'GET', key, headers: [['accept-encoding', 'identity']] },
          { method: 'GET', key, headers: [['accept-encoding', 'gzip, br']] },
          { method: 'HEAD', key, headers: [] },
        ]);
      }
    });

    test('missing keys and odd keys are answered alike', async () => {
      for (const key of ['missing', 'missing/', '/', '//', 'a/../b', '.']) {
        await assertSame([
          { method: 'GET', key, headers: [] },
          { method: 'HEAD', key, headers: [] },
          { method: 'GET', key, headers: [['range', 'bytes=0-1']] },
          { method: 'GET', key, headers: [['if-none-match', '*']] },
        ]);
      }
    });
  });
}

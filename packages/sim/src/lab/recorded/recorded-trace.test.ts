/** Recorded traces: what their lines mean, and what is said about lines that mean nothing. */
import { deepEqual, equal, throws } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TraceRead } from '../trace.ts';
import { recordedTrace } from './recorded-trace.ts';

const scratch = mkdtempSync(join(tmpdir(), 's3-accelerator-lab-'));
after(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const file = join(scratch, 'trace');

function reads(...lines: readonly string[]): readonly TraceRead[] {
  writeFileSync(file, lines.join('\n'));
  return [...recordedTrace(file, 1).reads()];
}

function brief(...lines: readonly string[]): readonly (readonly number[])[] {
  return reads(...lines).map(({ atMs, version, size, first, length }) => [
    atMs,
    version,
    size,
    first,
    length,
  ]);
}

/** A line of S3's server access log. */
function logged(
  time: string,
  operation: string,
  key: string,
  status: string,
  sent: string,
  size: string,
): string {
  return (
    `79a59df900b949e5 shop [${time}] 192.0.2.3 arn:aws:iam::1:user/x 3E57427F3EXAMPLE ${operation} ${key} ` +
    `"GET /shop/${key}?x=\\"1\\" HTTP/1.1" ${status} - ${sent} ${size} 7 6 "-" "aws-cli/2 a b" - hostid SigV4 x y z TLSv1.2 - -`
  );
}

test('a CSV line is one GET of a range, or of the whole object', () => {
  deepEqual(
    brief('time,key,size,offset,length', '0,a,100,10,20', '1.5,b,50,,', '1.5,a,100', '2,b,50,40,'),
    [
      [0, 0, 100, 10, 20],
      [1.5, 1, 50, 0, 50],
      [1.5, 0, 100, 0, 100],
      [2, 1, 50, 40, 10],
    ],
  );
});

test('keys with commas and quotes stand in quotes; line ends may be CRLF and the last one missing', () => {
  deepEqual(brief('0,"a,""b""",5,,\r', '', '1,"a,""c""",5,,\r', '2,"a,""b""",5,,'), [
    [0, 0, 5, 0, 5],
    [1, 1, 5, 0, 5],
    [2, 0, 5, 0, 5],
  ]);
});

test('a file may begin with the mark that spreadsheets put there', () => {
  deepEqual(brief('\uFEFFtime,key,size,offset,length', '0,a,5,,'), [[0, 0, 5, 0, 5]]);
  deepEqual(brief('\uFEFF0,a,5,,'), [[0, 0, 5, 0, 5]]);
});

test('a key whose size changes is a new version; empty objects have nothing to read', () => {
  deepEqual(
    brief('0,a,5,,', '1,a,6,,', '2,a,0,,', '3,a,5,,').map(([, version]) => version),
    [0, 1, 2],
  );
});

test('what is wrong in a CSV is said with its line', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['1,a', /trace:2: expected time,key,size,offset,length, found 2 fields/],
    ['1,a,5,,,', /trace:2: expected .* found 6 fields/],
    ['x,a,5,,', /trace:2: time 'x' is no number of milliseconds/],
    ['-1,a,5,,', /trace:2: time '-1'/],
    ['1,,5,,', /trace:2: the key is empty/],
    ['1,a,big,,', /trace:2: size 'big' is no number of bytes/],
    ['1,a,5,-1,', /trace:2: offset '-1' is no number of bytes/],
    ['1,a,5,0,0', /trace:2: 0 bytes from 0 on are not within 5 bytes/],
    ['1,a,5,3,3', /trace:2: 3 bytes from 3 on are not within 5 bytes/],
    ['1,a,5,5,', /trace:2: 0 bytes from 5 on/],
    ['1,a,999999999999999,,', /trace:2: size 999999999999999 is more than an object can have/],
    ['1,"a,5,,', /trace:2: a quote is open or out of place/],
    ['1,"a"b,5,,', /trace:2: a quote is open or out of place/],
    ['0.5,a,5,,', /trace:2: time goes back from 1 to 0.5/],
  ];
  for (const [line, message] of cases) {
    throws(() => reads('1,a,5,,', line), { name: 'TraceError', message });
  }
});

test('an access log’s GETs are reads, writes make new versions, all else is passed over', () => {
  const at = (second: number): string => `06/Feb/2019:00:00:3${second} +0000`;
  deepEqual(
    brief(
      logged(at(0), 'REST.GET.OBJECT', 'a', '200', '100', '100'),
      logged(at(1), 'REST.HEAD.OBJECT', 'a', '200', '-', '100'),
      logged(at(1), 'REST.GET.OBJECT', 'missing', '404', '300', '-'),
      logged(at(2), 'REST.GET.OBJECT', 'a', '200', '100', '100'),
      logged(at(3), 'REST.PUT.OBJECT', 'a', '200', '-', '100'),
      logged(at(4), 'REST.GET.OBJECT', 'a', '200', '60', '100'),
      logged(at(5), 'REST.PUT.OBJECT', 'a', '403', '-', '100'),
      logged(at(6), 'REST.GET.OBJECT', 'a', '200', '100', '100'),
    ),
    [
      [0, 0, 100, 0, 100],
      [2000, 0, 100, 0, 100],
      [4000, 1, 100, 0, 60],
      [6000, 1, 100, 0, 100],
    ],
  );
});

test('ranged reads of a log follow each other and begin again past the end', () => {
  const at = '06/Feb/2019:00:00:38 +0000';
  deepEqual(
    brief(
      logged(at, 'REST.GET.OBJECT', 'a', '206', '40', '100'),
      logged(at, 'REST.GET.OBJECT', 'b', '206', '10', '100'),
      logged(at, 'REST.GET.OBJECT', 'a', '206', '40', '100'),
      logged(at, 'REST.GET.OBJECT', 'a', '206', '40', '100'),
    ).map(([, version, , first, length]) => [version, first, length]),
    [
      [0, 0, 40],
      [1, 0, 10],
      [0, 40, 40],
      [0, 0, 40],
    ],
  );
});

test('times of a log count from its first line, across zones, months and leap days, and never go back', () => {
  const times = [
    '28/Feb/2020:23:59:59 +0000',
    '29/Feb/2020:00:00:00 +0000',
    '29/Feb/2020:01:00:10 +0100',
    '01/Mar/2020:00:00:00 +0000',
    '29/Feb/2020:12:00:00 +0000',
    '01/Jan/2021:00:00:00 +0000',
  ];
  const found = reads(
    ...times.map((time) => logged(time, 'REST.GET.OBJECT', 'a', '200', '1', '1')),
  ).map(({ atMs }) => atMs);
  const start = Date.parse('2020-02-28T23:59:59Z');
  const march = Date.parse('2020-03-01T00:00:00Z') - start;
  deepEqual(found, [0, 1000, 11_000, march, march, Date.parse('2021-01-01T00:00:00Z') - start]);
});

test('what is wrong in a log is said with its line', () => {
  const at = '06/Feb/2019:00:00:38 +0000';
  const good = logged(at, 'REST.GET.OBJECT', 'a', '200', '100', '100');
  const cases: readonly (readonly [string, RegExp])[] = [
    ['owner shop [06/Feb/2019:00:00:38 +0000] 1', /trace:2: expected the 13 fields .* found 4/],
    [good.replace('Feb', 'Foo'), /trace:2: time '06\/Foo/],
    [logged(at, 'REST.GET.OBJECT', 'a', '200', 'x', '100'), /trace:2: bytes sent 'x'/],
    [
      logged(at, 'REST.GET.OBJECT', 'a', '200', '9', '5'),
      /trace:2: 9 bytes sent of an object of 5/,
    ],
    [
      logged(at, 'REST.GET.OBJECT', 'a', '200', '9', '999999999999999'),
      /trace:2: size 999999999999999 is more than an object can have/,
    ],
  ];
  for (const [line, message] of cases) {
    throws(() => reads(good, line), { name: 'TraceError', message });
  }
});

test('files that are no traces are refused', () => {
  throws(() => reads('hello'), { message: /trace:1: neither 'time,key,size,offset,length' nor/ });
  throws(() => reads('', '', 'hello'), { message: /trace:3: neither/ });
  throws(() => reads(''), { message: /trace: there is no read in it/ });
  throws(() => reads('time,key,size,offset,length'), { message: /there is no read in it/ });
  throws(() => reads(`0,${'a'.repeat(70_000)},5,,`), { message: /trace:1: the line is too long/ });
  const missing = join(scratch, 'missing');
  throws(() => [...recordedTrace(missing, 1).reads()], { message: /can't be opened \(ENOENT\)/ });
  throws(() => [...recordedTrace(scratch, 1).reads()], { message: /can't be read \(EISDIR\)/ });
});

test('a file longer than what is read at a time keeps all its lines', () => {
  const lines = Array.from({ length: 60_000 }, (_, i) => `${i},käse/${i % 7},1000000,${i},5`);
  const found = reads(...lines);
  equal(found.length, 60_000);
  equal(new Set(found.map(({ version }) => version)).size, 7);
  equal(found.at(-1)!.first, 59_999);
});

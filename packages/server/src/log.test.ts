import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Secret } from './config/secret.ts';
import type { Log, LogLevel } from './log.ts';
import { FaultLog, createLog } from './log.ts';

const directory = mkdtempSync(join(tmpdir(), 's3accel-log-'));
after(() => rmSync(directory, { recursive: true }));

type Line = Readonly<Record<string, unknown>>;

/** What is written while `act` runs. */
function linesOf(level: LogLevel, act: (log: Log) => void): Line[] {
  const file = join(directory, 'log');
  const descriptor = openSync(file, 'w');
  act(createLog(level, descriptor));
  closeSync(descriptor);
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

test('a line is one JSON object with level, time, process and message', () => {
  const [line, ...more] = linesOf('info', (log) => {
    log.debug('not at this level');
    log.info({ bucket: 'tables' }, 'hello');
  });
  assert.deepEqual(more, []);
  assert.match(String(line?.['time']), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual(
    { ...line, time: '' },
    { level: 'info', time: '', pid: process.pid, bucket: 'tables', msg: 'hello' },
  );
});

test('secrets are hidden, however deep they are', () => {
  const lines = linesOf('info', (log) => {
    log.info({ client: { secretAccessKey: 'swordfish', accessKeyId: 'me' } }, 'a');
    log.info({ headers: { authorization: 'swordfish', host: 'x' } }, 'b');
    log.info({ request: { headers: { 'x-amz-security-token': 'swordfish' } } }, 'c');
    log.info({ config: { clients: [{ secretAccessKey: new Secret('swordfish') }] } }, 'd');
    log.info({ secret: 'swordfish', session_token: 'swordfish' }, 'e');
  });
  assert.equal(lines.length, 5);
  assert.doesNotMatch(JSON.stringify(lines), /swordfish/);
  assert.deepEqual(lines[0]?.['client'], { secretAccessKey: '(hidden)', accessKeyId: 'me' });
});

test('a fault is logged once in its time, then with the number held back', () => {
  let now = 0;
  const lines = linesOf('info', (log) => {
    const faults = new FaultLog(log, { everySeconds: 10, now: () => now });
    faults.warn('origin', 'S3 is slow', { status: 503 });
    for (let i = 0; i < 99; i++) faults.warn('origin', 'S3 is slow', { status: 503 });
    faults.error('disk', 'a write failed');
    now = 9_999;
    faults.warn('origin', 'S3 is slow', { status: 503 });
    now = 10_000;
    faults.warn('origin', 'S3 is slow', { status: 500 });
    now = 30_000;
    faults.warn('origin', 'S3 is slow', { status: 500 });
  });
  assert.deepEqual(
    lines.map(({ level, fault, held, msg, status }) => [level, fault, held, msg, status]),
    [
      ['warn', 'origin', undefined, 'S3 is slow', 503],
      ['error', 'disk', undefined, 'a write failed', undefined],
      ['warn', 'origin', 100, 'S3 is slow', 500],
      ['warn', 'origin', undefined, 'S3 is slow', 500],
    ],
  );
});

test('the faults remembered are bounded: the oldest is forgotten', () => {
  const lines = linesOf('info', (log) => {
    const faults = new FaultLog(log, { maxFaults: 2, now: () => 0 });
    for (const fault of ['a', 'b', 'c', 'c', 'b', 'a']) faults.warn(fault, 'again');
  });
  assert.deepEqual(
    lines.map(({ fault }) => fault),
    ['a', 'b', 'c', 'a'],
  );
});

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { LogFile, logName } from './log-file.ts';

function directoryFor(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-log-'));
  context.after(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

const append = (log: LogFile, text: string): Promise<number> =>
  new Promise((resolve) => {
    log.append(Buffer.from(text), resolve);
  });

const replace = (log: LogFile, pieces: Iterator<Uint8Array>): Promise<number> =>
  new Promise((resolve) => {
    log.replace(pieces, resolve);
  });

const contents = (directory: string): string => readFileSync(join(directory, logName), 'utf8');

test('what is appended stands in the file in order, behind what was there', async (context) => {
  const directory = directoryFor(context);
  const first = await LogFile.open(directory);
  assert.equal(await append(first, 'a'), 0);
  await first.close();
  const log = await LogFile.open(directory);
  const outcomes = await Promise.all(['b', 'c', 'd', 'e'].map((text) => append(log, text)));
  assert.deepEqual(outcomes, [0, 0, 0, 0]);
  assert.equal(contents(directory), 'abcde');
  await log.close();
});

test('closing waits for what was appended', async (context) => {
  const directory = directoryFor(context);
  const log = await LogFile.open(directory);
  for (let i = 0; i < 100; i++) log.append(Buffer.from(`${i} `), () => undefined);
  await log.close();
  assert.equal(contents(directory).split(' ').length, 101);
});

test('a replacement holds its pieces, and what was appended meanwhile behind what was asked for before', async (context) => {
  const directory = directoryFor(context);
  const log = await LogFile.open(directory);
  await append(log, 'old');
  function* pieces(): Generator<Uint8Array> {
    yield Buffer.from('1');
    log.append(Buffer.from('x'), () => undefined);
    yield Buffer.from('2');
    assert.equal(contents(directory).slice(0, 3), 'old', 'the old one stays until the end');
    log.append(Buffer.from('y'), () => undefined);
  }
  assert.equal(await replace(log, pieces()), 0);
  assert.equal(contents(directory), '1x2y');
  assert.equal(await append(log, 'z'), 0);
  assert.equal(contents(directory), '1x2yz');
  await log.close();
});

test('a replacement that fails leaves the old file as it is, appended to', async (context) => {
  const directory = directoryFor(context);
  const log = await LogFile.open(directory);
  await append(log, 'old');
  const blocked = join(directory, `${logName}.new`);
  mkdirSync(join(blocked, 'in-the-way'), { recursive: true });
  const outcome = await replace(log, [Buffer.from('new')].values());
  assert.notEqual(outcome, 0);
  assert.equal(await append(log, '+'), 0);
  assert.equal(contents(directory), 'old+');
  rmSync(blocked, { recursive: true });
  assert.equal(await replace(log, [Buffer.from('new')].values()), 0);
  assert.equal(contents(directory), 'new');
  await log.close();
});

test('closing gives up a replacement that is under way', async (context) => {
  const directory = directoryFor(context);
  const log = await LogFile.open(directory);
  await append(log, 'old');
  function* endless(): Generator<Uint8Array> {
    for (;;) yield Buffer.from('new');
  }
  const replaced = replace(log, endless());
  log.append(Buffer.from('+'), () => undefined);
  await log.close();
  assert.notEqual(await replaced, 0);
  assert.equal(contents(directory), 'old+');
  assert.equal(existsSync(join(directory, `${logName}.new`)), false);
});

test('more than a disk can take is refused, until the log was replaced', async (context) => {
  const directory = directoryFor(context);
  const log = await LogFile.open(directory);
  const large = new Uint8Array(33 << 20);
  const outcomes = [1, 2, 3].map(
    () =>
      new Promise<number>((resolve) => {
        log.append(large, resolve);
      }),
  );
  assert.ok((await Promise.all(outcomes)).some((errno) => errno !== 0));
  assert.notEqual(await append(log, 'behind a gap'), 0);
  assert.equal(await replace(log, [Buffer.from('whole')].values()), 0);
  assert.equal(await append(log, ' again'), 0);
  assert.equal(contents(directory), 'whole again');
  assert.equal(existsSync(join(directory, `${logName}.new`)), false);
  await log.close();
});

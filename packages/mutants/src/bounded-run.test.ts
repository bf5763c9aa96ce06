import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { boundedRun, type Command } from './bounded-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'bounded-run-'));
after(() => {
  rmSync(folder, { recursive: true });
});

const script = (text: string): Command => ({
  args: ['-e', text],
  cwd: folder,
  failure: /^not ok (.*)$/,
});

test('a command that ends well has passed', async () => {
  const verdict = await boundedRun(script("console.log('ok 1')"), 30);
  assert.deepEqual([verdict.kind, verdict.what], ['passed', '']);
});

test('the first failure is named and ends the command, even when it would go on', async () => {
  const verdict = await boundedRun(
    script("console.log('ok\\nnot ok first\\nnot ok second'); setInterval(() => {}, 1000)"),
    30,
  );
  assert.deepEqual([verdict.kind, verdict.what], ['failed', 'first']);
});

test('a bad exit code is a failure too, and what was printed is kept', async () => {
  const verdict = await boundedRun(script("console.error('why'); process.exit(3)"), 30);
  assert.equal(verdict.kind, 'failed');
  assert.match(verdict.tail, /why/);
});

test('a command that neither ends nor fails has hung, however busy it is', async () => {
  const verdict = await boundedRun(script('for (;;);'), 0.5);
  assert.equal(verdict.kind, 'hung');
});

test('what the command started ends with it', async () => {
  const file = join(folder, 'pid');
  const verdict = await boundedRun(
    script(
      `const { spawn } = require('node:child_process');
       const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
       require('node:fs').writeFileSync(${JSON.stringify(file)}, String(child.pid));
       console.log('not ok it');
       setInterval(() => {}, 1000);`,
    ),
    30,
  );
  assert.equal(verdict.kind, 'failed');
  const stat = `/proc/${readFileSync(file, 'utf8')}/stat`;
  // A killed process may stay as a zombie until somebody asks for it.
  const isGone = (): boolean =>
    !existsSync(stat) || / \(node\) [ZX] /.test(readFileSync(stat, 'latin1'));
  for (let tries = 0; tries < 250 && !isGone(); tries += 1) await sleep(20);
  assert.ok(isGone());
});

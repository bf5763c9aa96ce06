import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const main = join(import.meta.dirname, 'main.ts');

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

async function bench(args: readonly string[], onError: (text: string, kill: () => void) => void) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = { code: null as number | null, output: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    ended.errors += text;
    onError(ended.errors, () => child.kill('SIGTERM'));
  });
  [ended.code] = (await once(child, 'close')) as [number | null];
  return ended satisfies Ended;
}

test('--json prints one object last, with every figure that was asked for', async () => {
  const { code, output, errors } = await bench(['--only', 'P10', '--json'], () => undefined);
  assert.equal(code, 0, errors);
  const last = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as {
    figures: { id: string; pass: boolean }[];
  };
  assert.deepEqual(
    last.figures.map(({ id, pass }) => [id, pass]),
    ['a', 'b', 'c', 'd'].map((letter) => [`P10${letter}`, true]),
  );
});

test('an unknown figure is a mistake of who asks: 2, and the help', async () => {
  const { code, errors } = await bench(['--only', 'P99'], () => undefined);
  assert.equal(code, 2);
  assert.match(errors, /no figure is called P99\n\nUsage/);
});

test(
  'one that is stopped takes its processes and its files with it',
  { timeout: 120_000 },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-bench-stop-'));
    try {
      const { code } = await bench(
        ['--only', 'P5', '--quick', '--dir', directory],
        (errors, kill) => {
          if (errors.includes('P5: warm-up')) kill();
        },
      );
      assert.equal(code, 143);
      assert.deepEqual(readdirSync(directory), []);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);

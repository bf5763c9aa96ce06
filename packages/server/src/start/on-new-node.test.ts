import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';

/** A program that says hello, as it would be installed. Returns its folder. */
function install(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 's3-accelerator-program-'));
  context.after(() => {
    rmSync(folder, { recursive: true });
  });
  for (const name of ['bin', 'src']) mkdirSync(join(folder, name));
  const launcher = pathToFileURL(join(import.meta.dirname, 'on-new-node.mjs'));
  writeFileSync(
    join(folder, 'bin/program.mjs'),
    `import { onNewNode } from '${launcher.href}';
     await onNewNode(import.meta.filename, () => import('../src/main.ts'));`,
  );
  writeFileSync(join(folder, 'src/main.ts'), `console.log('hello' satisfies string);`);
  return folder;
}

function run(folder: string): string {
  const env = { ...process.env, NODE_COMPILE_CACHE: '' };
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'bin/program.mjs')], {
    encoding: 'utf8',
    env,
  });
  assert.equal(stderr, '');
  return stdout;
}

test('what was compiled is kept beside the program', (context) => {
  const folder = install(context);
  assert.equal(run(folder), 'hello\n');
  assert.equal(readdirSync(join(folder, '.compile-cache')).length, 1);
  assert.equal(run(folder), 'hello\n');
});

test('where nothing can be kept the program runs all the same', (context) => {
  const folder = install(context);
  writeFileSync(join(folder, '.compile-cache'), 'in the way');
  assert.equal(run(folder), 'hello\n');
  assert.ok(!existsSync(join(folder, 'src/.compile-cache')));
});

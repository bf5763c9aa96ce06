// A fresh clone is prepared once, however many first commands run at the same time. Its npm and its compiler are played by scripts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';

const clone = mkdtempSync(join(tmpdir(), 's3-accelerator-bootstrap-'));
const log = join(clone, 'log');
after(() => rmSync(clone, { recursive: true, force: true }));

function put(name: string, content: string, mode = 0o644): void {
  const file = join(clone, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content, { mode });
}

const node = `node_modules/node-linux-${process.arch}/bin/node`;
/** Takes so long that a second command surely comes meanwhile. */
const slowNpm = `#!/bin/sh
echo begin >>"${log}"
sleep 1
mkdir -p "${dirname(join(clone, node))}"
ln -s "${process.execPath}" "${join(clone, node)}"
echo end >>"${log}"
`;

function first(): Promise<{ code: number | null; said: string; told: string }> {
  const child = spawn(process.execPath, [join(clone, 'scripts/bootstrap.mjs'), 'hello.ts'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: `${join(clone, 'bin')}:${process.env['PATH']}` },
  });
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return Promise.all([code, text(child.stdout), text(child.stderr)]).then(
    ([status, said, told]) => ({ code: status, said, told }),
  );
}

test('of two first commands one prepares the clone, and the other waits for it', async () => {
  cpSync(
    join(import.meta.dirname, '../../../../scripts/bootstrap.mjs'),
    join(clone, 'scripts/bootstrap.mjs'),
  );
  put('package.json', '{}');
  put('package-lock.json', '{}');
  put('packages/native/package.json', '{}');
  put('packages/native/binding.gyp', '{}');
  put('packages/native/src/addon.cc', '');
  put('hello.ts', `process.stdout.write('hello');`);
  put('bin/npm', slowNpm, 0o755);
  for (const tool of ['g++', 'make', 'python3']) put(`bin/${tool}`, '#!/bin/sh\n', 0o755);
  put(
    'node_modules/node-gyp/bin/node-gyp.js',
    `const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
appendFileSync(${JSON.stringify(log)}, 'build\\n');
mkdirSync('packages/native/build/Release', { recursive: true });
writeFileSync('packages/native/build/Release/native.node', '');`,
  );

  const both = await Promise.all([first(), first()]);
  for (const { code, said, told } of both) {
    assert.equal(code, 0, told);
    assert.equal(said, 'hello');
  }
  const waited = both.filter(({ told }) => told.includes('Another command prepares this clone'));
  assert.equal(waited.length, 1);
  assert.equal(readFileSync(log, 'utf8'), 'begin\nend\nbuild\n');

  // Prepared: nobody waits and nothing is installed again.
  const later = await first();
  assert.deepEqual(later, { code: 0, said: 'hello', told: '' });
});

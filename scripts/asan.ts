// `npm run test:asan`: builds the addon with the address and undefined-behaviour sanitizers into
// packages/native/build-asan, and runs the native tests on it. Any report fails.
//
// The sanitizer's runtime has to be there before Node itself, so it is preloaded. Leaks aren't looked for: V8 never
// frees what it holds when a process ends.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const output = join(root, 'packages/native/build-asan');
const addon = join(output, 'native.node');
const compiler = process.env['CXX'] ?? 'g++';

function fail(what: string): never {
  console.error(what);
  process.exit(1);
}

/** Where the compiler keeps a runtime library, null when it has none. */
function runtime(name: string): string | null {
  const asked = spawnSync(compiler, [`-print-file-name=${name}`], { encoding: 'utf8' });
  if (asked.error !== undefined) fail(`${compiler} does not run here: ${asked.error.message}`);
  // An unknown library is echoed back without its path.
  const path = asked.stdout.trim();
  return path.startsWith('/') && existsSync(path) ? path : null;
}

function build(): void {
  mkdirSync(output, { recursive: true });
  const headers = join(root, 'node_modules', `node-linux-${process.arch}`, 'include/node');
  const defines = [
    'NAPI_VERSION=9',
    'OPENSSL_SUPPRESS_DEPRECATED',
    'NODE_GYP_MODULE_NAME=native',
    '_GLIBCXX_ASSERTIONS',
  ];
  const args = [
    ...['-std=c++17', '-O1', '-g', '-fPIC', '-shared', '-pthread', '-Wall', '-Wextra', '-Werror'],
    ...[
      '-fsanitize=address,undefined',
      '-fno-omit-frame-pointer',
      '-fno-sanitize-recover=undefined',
    ],
    ...defines.map((define) => `-D${define}`),
    `-I${headers}`,
    ...globSync('packages/native/src/*.cc', { cwd: root }).sort(),
    ...['-o', addon],
  ];
  const built = spawnSync(compiler, args, { cwd: root, stdio: 'inherit' });
  if (built.status !== 0) fail('The sanitizer build of the addon failed.');
}

function test(preload: string): void {
  const reports = mkdtempSync(join(tmpdir(), 's3-accelerator-asan-'));
  const files = globSync('packages/native/ts/**/*.test.ts', { cwd: root }).sort();
  const run = spawnSync(
    process.execPath,
    ['--test', '--test-timeout=180000', '--test-concurrency=2', ...files],
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        LD_PRELOAD: preload,
        S3_ACCELERATOR_ADDON: addon,
        ASAN_OPTIONS: `detect_leaks=0:log_path=${join(reports, 'asan')}`,
        UBSAN_OPTIONS: `print_stacktrace=1:log_path=${join(reports, 'ubsan')}`,
      },
    },
  );
  // A report counts wherever it comes from, also from a process that a test expects to fail.
  const written = globSync('*', { cwd: reports }).map((name) =>
    readFileSync(join(reports, name), 'utf8'),
  );
  rmSync(reports, { recursive: true });
  for (const report of written) console.error(report);
  if (written.length > 0) fail(`${written.length} sanitizer reports.`);
  if (run.status !== 0) fail('The native tests failed on the sanitizer build.');
  console.log('The native tests pass on the sanitizer build, without a report.');
}

const libraries = ['libasan.so', 'libubsan.so'].map(runtime);
if (libraries.includes(null)) {
  fail(
    `${compiler} has no sanitizer runtime here (libasan, libubsan); on Debian they come with g++. ` +
      'Nothing was checked.',
  );
}
build();
test(libraries.join(' '));

/**
 * Runs a file of tests in a network of its own: a namespace that has nothing but what the tests put into it, and that is gone with them. So
 * tests may cut and slow links as they like; this machine's network never notices.
 *
 * The file calls `testsInOwnNetwork`, which runs the same file once more inside. Needs root, or a kernel that lets users have namespaces.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { test } from 'node:test';

const mark = 'S3A_TEST_NETWORK';

/** Defines the tests if this is the network of their own, else one test that runs them there. */
export function testsInOwnNetwork(file: string, define: () => void): void {
  if (process.env[mark] === 'own') {
    define();
    return;
  }
  void test('in a network of their own:', async (context) => {
    const way = process.getuid?.() === 0 ? ['--net'] : ['--map-root-user', '--net'];
    if (!isPossible(way)) {
      context.skip(
        'this needs `unshare --net`, `nsenter` and `ip`, as root or with user namespaces',
      );
      return;
    }
    const { code, said } = await run('unshare', [
      ...way,
      process.execPath,
      '--test-reporter=spec',
      file,
    ]);
    assert.equal(code, 0, said);
    for (const line of said.split('\n')) if (/^[✔ℹ﹣] /.test(line)) context.diagnostic(line);
  });
}

function isPossible(way: readonly string[]): boolean {
  const script =
    'ip link set lo up && ip link add name one type veth peer name other && ip rule add to 192.0.2.1 blackhole && nsenter --version';
  const { status } = spawnSync('unshare', [...way, 'sh', '-c', script], { stdio: 'ignore' });
  return status === 0;
}

function run(command: string, args: readonly string[]): Promise<{ code: number; said: string }> {
  // Without the runner's own mark: this is a run of its own, whose report is read here.
  const env: NodeJS.ProcessEnv = { ...process.env, [mark]: 'own' };
  delete env['NODE_TEST_CONTEXT'];
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code: code ?? 1, said }));
  });
}

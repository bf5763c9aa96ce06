// `npm test`: every check and every test, one after the other, with a summary at the end.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endWithUsage } from 's3-accelerator/config/argument-error.ts';

const root = join(import.meta.dirname, '..');
const bin = (name: string): string => join(root, 'node_modules/.bin', name);

interface Step {
  readonly name: string;
  readonly command: readonly string[];
  readonly environment?: Record<string, string>;
}

const usage = `Usage: npm test [-- OPTIONS]

  --long        the sanitizer build, long fuzzing and the tests in *.long.test.ts, too
  --only NAME   one step, or those that begin like this
`;

const options = parsed();

function parsed() {
  try {
    return parseArgs({
      options: { long: { type: 'boolean', default: false }, only: { type: 'string' } },
    }).values;
  } catch (error) {
    return endWithUsage(error, usage);
  }
}

function testFiles(): string[] {
  const all = globSync('packages/*/{src,ts}/**/*.test.ts', { cwd: root });
  return all.filter((file) => !file.endsWith('.long.test.ts')).sort();
}

function longTestFiles(): string[] {
  return globSync('packages/*/{src,ts}/**/*.long.test.ts', { cwd: root }).sort();
}

function fuzzFiles(): string[] {
  return globSync('packages/*/src/**/*.fuzz.ts', { cwd: root }).sort();
}

const runner = [
  process.execPath,
  '--test',
  '--test-reporter=spec',
  '--test-timeout=180000',
  '--test-concurrency=2',
];

const quick: readonly Step[] = [
  { name: 'format', command: [bin('prettier'), '--check', '--log-level', 'warn', '.'] },
  { name: 'types: core wall', command: [bin('tsc'), '-p', 'packages/core/tsconfig.wall.json'] },
  {
    name: 'types: protocol wall',
    command: [bin('tsc'), '-p', 'packages/protocol/tsconfig.wall.json'],
  },
  { name: 'types', command: [bin('tsc'), '-p', '.'] },
  { name: 'lint', command: [bin('eslint'), '.', '--max-warnings', '0'] },
  { name: 'layers', command: [process.execPath, join(root, 'scripts/layers.ts')] },
  { name: 'tests', command: [...runner, ...testFiles(), ...fuzzFiles()] },
];

const longRunner = [
  process.execPath,
  '--test',
  '--test-reporter=spec',
  '--test-timeout=900000',
  // Each of these has the machine to itself: they measure memory, or take all of it that there is to take.
  '--test-concurrency=1',
];

const long: readonly Step[] = [
  { name: 'sanitizers', command: [process.execPath, join(root, 'scripts/asan.ts')] },
  {
    name: 'long fuzzing',
    command: [...runner, ...fuzzFiles()],
    environment: { FUZZ_SECONDS: '120' },
  },
  { name: 'long tests', command: [...longRunner, ...longTestFiles()] },
];

function run(step: Step): Promise<number> {
  const [program = '', ...args] = step.command;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...step.environment, NODE_ENV: 'test' },
    });
    child.on('error', (error) => {
      console.error(`${step.name}: ${error.message}`);
      resolve(1);
    });
    child.on('exit', (code) => {
      resolve(code ?? 1);
    });
  });
}

const all = options.long ? [...quick, ...long] : quick;
const steps = all.filter(
  (step) => options.only === undefined || step.name.startsWith(options.only),
);
if (steps.length === 0) {
  console.error(
    `No step is called ${options.only ?? ''}: ${all.map((step) => step.name).join(', ')}`,
  );
  process.exit(2);
}
const failed: string[] = [];
const lines: string[] = [];
for (const step of steps) {
  console.log(`\n— ${step.name}`);
  const started = performance.now();
  const code = await run(step);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  lines.push(`${code === 0 ? 'ok    ' : 'FAILED'} ${step.name} (${seconds} s)`);
  if (code !== 0) failed.push(step.name);
}
console.log(`\n${lines.join('\n')}`);
console.log(`checks: ${steps.length - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length === 0 ? 0 : 1);

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { figureOf, type Comparison } from '../figure.ts';
import { pageFile, pageFor, plotsDirectory, recordFile } from './write.ts';
import { plotsOf } from './plots.ts';
import { emptyRecord, readRecord, withRun, type RecordedRun } from './record.ts';

const run = (commit: string): RecordedRun => ({
  date: '2026-01-01',
  commit,
  machine: '2 × a processor',
  kernel: '6.0',
  node: '24.0.0',
  command: 'npm run bench --',
  peers: { nginx: '1.0' },
  warnings: [],
});
const figure = (id: string, value: number, used: number | null = null) =>
  figureOf({ id, title: `what ${id} is`, unit: 'ms', target: '≤ 1 ms' }, [value], { used });
const bar = (what: string, system: string, cpuUs: number): Comparison => ({
  system,
  isOurs: system === 'ours',
  what,
  cpuUs,
  spread: [cpuUs, cpuUs],
  requestsPerSecond: 1000,
  note: '',
});

test('BENCHMARKS.md and its pictures are what docs/benchmarks.json gives', async () => {
  const record = readRecord(recordFile);
  const page = readFileSync(pageFile, 'utf8');
  assert.equal(page, await pageFor(page, record));
  for (const { name, svg } of await plotsOf(record)) {
    assert.equal(readFileSync(join(plotsDirectory, `${name}.svg`), 'utf8'), svg, name);
  }
});

test('the page shows those pictures that there are figures for, and lists peers only once they were measured', async () => {
  const page = readFileSync(pageFile, 'utf8');
  const withPeers = withRun(
    emptyRecord,
    run('a'),
    [figure('P1', 1, 0.5)],
    [bar('4 KiB', 'ours', 5)],
  );
  const without = withRun(emptyRecord, run('a'), [figure('P7c', 1)], []);
  const [full, bare] = [await pageFor(page, withPeers), await pageFor(page, without)];
  for (const { name } of await plotsOf(withPeers)) {
    assert.ok(full.includes(`(docs/plots/${name}.svg)`), name);
    assert.ok(!bare.includes(`(docs/plots/${name}.svg)`), name);
  }
  assert.match(full, /\*\*ours\*\*/);
  assert.doesNotMatch(bare, /All peers/);
});

test('figures measured again replace those of the same number, and a run that nothing is left of goes', () => {
  const first = withRun(
    emptyRecord,
    run('a'),
    [figure('P10', 1), figure('P7a', 2), figure('P7b', 3)],
    [],
  );
  const second = withRun(first, run('b'), [figure('P7a', 4)], []);
  assert.deepEqual(
    second.figures.map(({ id, value, run: at }) => [id, value, second.runs[at]?.commit]),
    [
      ['P7a', 4, 'b'],
      ['P10', 1, 'a'],
    ],
  );
  const third = withRun(second, run('c'), [figure('P10', 5)], []);
  assert.deepEqual(
    third.runs.map(({ commit }) => commit),
    ['b', 'c'],
  );
});

test('comparisons are replaced request by request, smallest requests and cheapest systems first', () => {
  const first = withRun(emptyRecord, run('a'), [], [bar('1 MiB', 'ours', 9), bar('4 KiB', 'x', 8)]);
  const second = withRun(first, run('b'), [], [bar('4 KiB', 'x', 7), bar('4 KiB', 'ours', 6)]);
  assert.deepEqual(
    second.comparisons.map(({ what, system, cpuUs }) => [what, system, cpuUs]),
    [
      ['4 KiB', 'ours', 6],
      ['4 KiB', 'x', 7],
      ['1 MiB', 'ours', 9],
    ],
  );
});

test('a figure that uses more than its target allows is short, and its picture shows it in red', async () => {
  assert.equal(figure('P1', 1, 1.01).pass, false);
  assert.equal(figure('P1', 1, 1).pass, true);
  const record = withRun(emptyRecord, run('a'), [figure('P1', 1, 1.5)], [bar('4 KiB', 'ours', 5)]);
  const plots = await plotsOf(record);
  assert.deepEqual(
    plots.map(({ name }) => name),
    ['cpu-a-request', 'targets'],
  );
  const targets = plots[1]?.svg ?? '';
  assert.match(targets, /150%/);
  assert.match(targets, /#cf222e/);
  assert.doesNotMatch(targets, /#1a7f37/);
  assert.match(plots[0]?.svg ?? '', /#0969da/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stacksOfCpuProfile } from './cpu-profile.ts';
import { flameGraph } from './flame-graph.ts';
import { ArgumentError } from '../arguments.ts';
import { optionsFrom } from './options.ts';
import { stacksOfPerfScript } from './perf-script.ts';
import { Stacks, type Frame } from './stacks.ts';
import { callsOfSummary } from './system-calls.ts';

const printed = `node 
	ffffffff821f5127 tcp_sendmsg+0xd7 ([kernel.kallsyms])
	          16e0ba __libc_sendmsg+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)
	            2de0 s3a::Reactor::flush(int)+0x10 (/w/packages/native/build/Release/native.node)
	    7f01c0de0000 JS:*#event file:///w/packages/native/ts/reactor.ts:479:9+0x20 (/tmp/perf-77.map)
	               0 [unknown] ([unknown])

node 
	    7f01c0de0000 JS:+'onRead file:///w/packages/core/src/node/node.ts:12:9+0x8 (/tmp/perf-77.map)
	    7f01c0de0000 JS:*#event file:///w/packages/native/ts/reactor.ts:479:9+0x8 (/tmp/perf-77.map)

node 
	    7f01c0de0000 JS:+'onRead file:///w/packages/core/src/node/node.ts:12:9+0x44 (/tmp/perf-77.map)
	    7f01c0de0000 JS:*#event file:///w/packages/native/ts/reactor.ts:479:9+0x16 (/tmp/perf-77.map)

`;

test('what perf prints becomes stacks from the root on, by where their code belongs', () => {
  const stacks = stacksOfPerfScript(printed);
  assert.equal(stacks.total, 3);
  assert.deepEqual(
    stacks.all.map(({ frames, weight }) => [weight, ...frames.map(({ name }) => name)]),
    [
      [1, '#event reactor.ts:479', 's3a::Reactor::flush', '__libc_sendmsg', 'tcp_sendmsg'],
      [2, '#event reactor.ts:479', 'onRead node.ts:12'],
    ],
  );
  assert.deepEqual(
    stacks.all[0]?.frames.map(({ kind }) => kind),
    ['typescript', 'addon', 'node', 'kernel'],
  );
  const shares = stacks.sharesByKind();
  assert.ok(Math.abs(shares.typescript - 2 / 3) < 1e-9 && Math.abs(shares.kernel - 1 / 3) < 1e-9);
  assert.equal(stacks.hottest(1)[0]?.name, 'onRead node.ts:12');
});

test('a profile of V8 becomes stacks weighted by time, without what was idle', () => {
  const node = (id: number, functionName: string, url: string, children: number[] = []) => ({
    id,
    callFrame: { functionName, url, lineNumber: 4 },
    children,
  });
  const stacks = stacksOfCpuProfile(
    JSON.stringify({
      nodes: [
        node(1, '(root)', '', [2, 4]),
        node(2, 'read', 'file:///w/core/read.ts', [3]),
        node(3, '', 'node:internal/net'),
        node(4, '(idle)', ''),
      ],
      samples: [2, 3, 4],
      timeDeltas: [100, 50, 1000],
    }),
  );
  assert.equal(stacks.total, 150);
  assert.deepEqual(
    stacks.all.map(({ frames, weight }) => [weight, ...frames.map(({ name }) => name)]),
    [
      [100, 'read read.ts:5'],
      [50, 'read read.ts:5', '(anonymous) net:5'],
    ],
  );
});

test('a flame graph has a box for each function, as wide as its share, with names that are safe in XML', () => {
  const stacks = new Stacks();
  const frame = (name: string): Frame => ({ name, kind: 'typescript' });
  stacks.add([frame('outer'), frame('a<b>')], 3);
  stacks.add([frame('outer'), frame('other')], 1);
  const svg = flameGraph('a graph', stacks);
  assert.match(svg, /<title>outer: 100\.0%<\/title><rect x="0\.0" y="\d+" width="1199\.5"/);
  assert.match(svg, /<title>a&lt;b&gt;: 75\.0%<\/title><rect x="0\.0" y="\d+" width="899\.5"/);
  assert.match(svg, /<title>other: 25\.0%<\/title><rect x="900\.0"/);
  assert.match(svg, /TypeScript 100%/);
});

test('the summary of strace is read with and without a column of errors', () => {
  const summary = `strace: Process 9 attached
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 61.05    0.101374           8     11744           sendmsg
 30.15    0.050062           5      9433       110 recvfrom
  0.10    0.000165           3        50           epoll_pwait2
------ ----------- ----------- --------- --------- ----------------
100.00    0.151601           7     21227       110 total
`;
  assert.deepEqual(callsOfSummary(summary), [
    { name: 'sendmsg', calls: 11744 },
    { name: 'recvfrom', calls: 9433 },
    { name: 'epoll_pwait2', calls: 50 },
  ]);
});

test('arguments that mean nothing are refused by name', () => {
  assert.equal(optionsFrom(['plan.toml', '--processes', '1'])?.processes, 1);
  assert.equal(optionsFrom(['--help']), null);
  assert.throws(() => optionsFrom([]), /one plan/);
  assert.throws(() => optionsFrom(['a', '--processes', '3']), /--processes 3/);
  assert.throws(() => optionsFrom(['a', '--seconds', 'x']), /--seconds x/);
  assert.throws(() => optionsFrom(['a', '--fast']), ArgumentError);
});

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { alignedMemory, tableMemory } from './files.ts';
import { native } from './native.ts';

const mib = 1 << 20;

/** Kilobytes of this process's mappings that the kernel was asked to put into huge pages. */
function advisedKilobytes(): number {
  const mappings = readFileSync('/proc/self/smaps', 'utf8').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  return mappings
    .filter((mapping) => /^VmFlags:.* hg( |$)/m.test(mapping))
    .reduce((sum, mapping) => sum + Number(/^Size: +(\d+) kB/m.exec(mapping)?.[1]), 0);
}

test('memory of tables is zeroed, as long as asked for, and writable to its end', () => {
  for (const bytes of [0, 1, 4096, 2 * mib - 1, 2 * mib, 5 * mib + 17]) {
    const memory = new Uint8Array(tableMemory(bytes));
    assert.equal(memory.length, bytes);
    assert.ok(memory.every((byte) => byte === 0));
    memory.fill(0xff);
    assert.equal(memory.at(-1) ?? 0xff, 0xff);
  }
});

test('large tables are asked for in huge pages', (t) => {
  if (!existsSync('/sys/kernel/mm/transparent_hugepage')) {
    t.skip('this kernel has none');
    return;
  }
  const before = advisedKilobytes();
  const memory = tableMemory(64 * mib);
  new Uint8Array(memory).fill(1);
  assert.ok(advisedKilobytes() - before >= 64 * 1024 - 1024);
  assert.equal(memory.byteLength, 64 * mib);
});

test('memory is aligned as asked: direct writes take it', () => {
  assert.equal(alignedMemory(12_345).length, 12_345);
  for (const alignment of [4095, 4097, 12_288, 0, 2 ** 31]) {
    assert.throws(() => native.allocateAligned(4096, alignment, false), /alignment/);
  }
  assert.throws(() => native.allocateAligned(0, 4096, false), /bytes/);
});

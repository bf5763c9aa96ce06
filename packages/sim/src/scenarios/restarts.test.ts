/** What outlives a node's process, and what must not. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { HEADER_BYTES } from '@s3-accelerator/core/journal/table-header.ts';
import { BLOCK, tell, type Story } from './story.ts';

/** Three blocks of an object are on disk and durable. */
function stored(story: Story, bucket: string): void {
  story.put('a/table', 3 * BLOCK, bucket);
  for (let read = 0; read < 3; read++) story.get('a/table', { bucket });
  story.settle();
  equal(story.stored, 3);
}

/** What S3 answered since the node came back, with how many bytes. */
function askedSince(story: Story, bucket: string, before: number): readonly number[] {
  return story
    .fetches('a/table', bucket)
    .slice(before)
    .map(({ status }) => status);
}

test('a node that was stopped comes back warm: an immutable object costs S3 nothing', () => {
  tell({}, (story) => {
    stored(story, 'models');
    const before = story.fetches('a/table', 'models').length;
    story.restart(story.world.nodes[0]!, (node) => {
      node.stop();
    });
    equal(story.stored, 3);
    equal(story.get('a/table', { bucket: 'models' }).received, 3 * BLOCK);
    deepEqual(askedSince(story, 'models', before), []);
    equal(story.world.nodes[0]!.run!.node.verification.counters.intact, 0);
  });
});

test('after a restart an object that may change is confirmed before its blocks are served', () => {
  tell({}, (story) => {
    stored(story, 'tables');
    const before = story.fetches('a/table').length;
    story.restart(story.world.nodes[0]!, (node) => {
      node.stop();
    });
    equal(story.get('a/table').received, 3 * BLOCK);
    deepEqual(askedSince(story, 'tables', before), [304]);
  });
});

test('after a crash every block is verified before it is served, and served from disk', () => {
  tell({}, (story) => {
    stored(story, 'models');
    const before = story.fetches('a/table', 'models').length;
    story.restart(story.world.nodes[0]!, (node) => {
      node.crash(1);
    });
    equal(story.stored, 3);
    equal(story.get('a/table', { bucket: 'models' }).received, 3 * BLOCK);
    // What is known of the object may be lost with the log's unsynced end; its blocks are not.
    ok(askedSince(story, 'models', before).length <= 1);
    equal(story.world.nodes[0]!.run!.node.verification.counters.intact, 3);
  });
});

test('blocks that a crash caught before their rows were durable are gone, and read again', () => {
  tell({ delays: { diskMs: 20 } }, (story) => {
    story.put('a/table', 3 * BLOCK, 'builds');
    story.get('a/table', { bucket: 'builds' });
    story.until(() => story.stored > 0);
    story.restart(story.world.nodes[0]!, (node) => {
      node.crash(1);
    });
    equal(story.stored, 0);
    equal(story.get('a/table', { bucket: 'builds' }).received, 3 * BLOCK);
  });
});

test('a block that rotted while nobody trusted it is noticed, dropped and read again', () => {
  tell({}, (story) => {
    stored(story, 'models');
    story.restart(story.world.nodes[0]!, (node) => {
      node.crash(0);
      const [offset] = node.files.untrustedOffsets();
      node.files.rot(offset!);
    });
    equal(story.get('a/table', { bucket: 'models' }).received, 3 * BLOCK);
    equal(story.world.nodes[0]!.run!.node.verification.counters.damaged, 1);
  });
});

test('a slab that is cut while the node runs costs the blocks behind the cut, never a wrong byte', () => {
  tell({}, (story) => {
    stored(story, 'models');
    const { files, run } = story.world.nodes[0]!;
    const whole = files.slabBytes;
    files.slabBytes = HEADER_BYTES + BLOCK;
    const answer = story.get('a/table', { bucket: 'models' });
    deepEqual([answer.end, answer.received], ['finished', 3 * BLOCK]);
    ok(run!.node.counters.unreadableBlocks > 0);
    ok(story.stored < 3);
    files.slabBytes = whole;
    story.settle();
    story.get('a/table', { bucket: 'models' });
    story.settle();
    equal(story.stored, 3);
  });
});

test('a disk that fails every write costs hits, never an answer', () => {
  tell({}, (story) => {
    const mend = story.fault('the disk is full');
    story.world.diskWritePercent = 100;
    story.put('a/table', 3 * BLOCK);
    for (let read = 0; read < 4; read++) equal(story.get('a/table').received, 3 * BLOCK);
    story.settle();
    equal(story.stored, 0);
    story.world.diskWritePercent = 0;
    mend();
    story.settle();
    for (let read = 0; read < 3; read++) story.get('a/table');
    story.settle();
    equal(story.stored, 3);
  });
});

/** Nodes that go away while they are needed. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK, tell, type Story } from './story.ts';

function warm(story: Story, key: string, blocks: number): void {
  story.put(key, blocks * BLOCK);
  for (let read = 0; read < 3; read++) story.get(key);
  story.settle();
}

test('a home that is lost mid-answer costs the client nothing: the next candidate goes on', () => {
  tell({ cluster: { nodes: 3 }, delays: { clientMs: 10 } }, (story) => {
    warm(story, 'a/table', 4);
    const { answer } = story.send('a/table');
    story.until(() => answer.received >= BLOCK);
    ok(answer.received < 4 * BLOCK);
    story.restart(story.homeOf('a/table'), (home) => {
      home.kill();
    });
    story.until(() => answer.end !== 'open');
    deepEqual([answer.end, answer.received], ['finished', 4 * BLOCK]);
  });
});

test('a home that is down is gone around, and used again once it is back', () => {
  tell({ cluster: { nodes: 2 } }, (story) => {
    warm(story, 'a/table', 2);
    const home = story.homeOf('a/table');
    home.kill();
    equal(story.get('a/table').received, 2 * BLOCK);
    home.start();
    story.wait(60_000);
    const asked = story.world.history.nodeReads.length;
    equal(story.get('a/table').received, 2 * BLOCK);
    const since = story.world.history.nodeReads.slice(asked);
    ok(since.some(({ node }) => node === home.nodeId));
  });
});

test('with the only node gone, clients are told to come back later', () => {
  tell({}, (story) => {
    warm(story, 'a/table', 1);
    const mend = story.fault('the only node is gone');
    const [node] = story.world.nodes;
    node!.kill();
    equal(story.get('a/table').status, 503);
    node!.start();
    mend();
    story.wait(60_000);
    equal(story.get('a/table').status, 200);
  });
});

test('a node that can’t be heard is given up after the time limit', () => {
  tell({ cluster: { nodes: 2 }, gateway: { readTimeoutMs: 200 } }, (story) => {
    warm(story, 'a/table', 2);
    const home = story.homeOf('a/table');
    const [gateway] = story.world.gateways;
    story.world.network.block(home.place, gateway!.place, 500);
    const answer = story.get('a/table');
    deepEqual([answer.end, answer.received], ['finished', 2 * BLOCK]);
    ok(answer.endedAt - answer.startedAt >= 200);
  });
});

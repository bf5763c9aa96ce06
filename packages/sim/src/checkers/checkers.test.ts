import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Checkers, type CheckerName } from './checkers.ts';
import { describeObjects } from './describe.ts';
import { HandMade, readsLogs, requestOf, rules } from './testing/hand-made.ts';

const blockBytes = 32;

function checked() {
  const made = new HandMade();
  const checkers = new Checkers(made.history, made.oracle, rules, blockBytes);
  return { made, checkers };
}

void test('a sound run has no violation, and drops the bodies that were judged', () => {
  const { made, checkers } = checked();
  const version = made.put(10, 'k', 40);
  const answer = made.answer(version, { startedAt: 20 });
  checkers.answerEnded(answer);
  checkers.writeEnded(made.written(30, 'k', 'done'));
  const read = made.lookup({ arrivedAt: 40 });
  checkers.originAsked(made.fetch({ request: requestOf('k'), sentAt: 41 }));
  checkers.nodeReadEnded(read);
  checkers.slotChanged({ node: 0, life: 1, at: 50, slot: 1, kind: 'written' });
  checkers.restSeen({ name: 'node 0', levels: [] });
  checkers.ended(0);
  assert.equal(checkers.violation, null);
  assert.deepEqual([answer.body.length, answer.received], [0, 40]);
});

const block = { bucket: 'b', key: 'k', etag: '"x"', index: 0 };
const view = { node: 0, slot: 1, block, blockBytes, length: 32, bytes: new Uint8Array(32) };
const planted: readonly [CheckerName, (made: HandMade, checkers: Checkers) => void][] = [
  [
    'answers',
    (made, checkers) => {
      const answer = made.answer(made.put(10, 'k', 40), { startedAt: 20 });
      answer.size = 41;
      checkers.answerEnded(answer);
    },
  ],
  [
    'read-your-writes',
    (made, checkers) => {
      const old = made.put(10, 'k', 40);
      made.written(20, 'k', 'done');
      checkers.answerEnded(made.answer(old, { startedAt: 30, staleMs: 1000 }));
    },
  ],
  [
    'authorisation',
    (made, checkers) => {
      const secret = made.put(10, 'secret', 40);
      checkers.answerEnded(made.answer(secret, { startedAt: 20, credential: readsLogs }));
    },
  ],
  [
    'authorisation',
    (made, checkers) => {
      const write = made.write({ startedAt: 20, credential: readsLogs });
      write.outcome = 'failed';
      checkers.writeEnded(write);
    },
  ],
  [
    'authorisation',
    (made, checkers) => {
      const write = made.write({ startedAt: 20, credential: readsLogs });
      write.outcome = 'unknown';
      write.endedAt = 30;
      checkers.writeEnded(write);
      // It takes effect after its client gave up.
      write.versions.push(made.put(40, 'k', 5, {}, write.id));
      checkers.ended(0);
    },
  ],
  [
    'authorisation',
    (made, checkers) => {
      made.put(40, 'k', 5, {}, 3);
      checkers.ended(0);
    },
  ],
  [
    'coalescing',
    (made, checkers) => {
      const answer = made.answer(made.oracle.current('b', 'k'), { startedAt: 20 });
      answer.errorOf = made.refusal(requestOf('k'), 19).id;
      checkers.answerEnded(answer);
    },
  ],
  [
    'coalescing',
    (made, checkers) => {
      const read = made.lookup({ arrivedAt: 20 });
      read.errorOf = made.refusal(requestOf('k'), 19).id;
      checkers.nodeReadEnded(read);
    },
  ],
  [
    'fills',
    (made, checkers) => {
      checkers.originAsked(made.fetch({ request: requestOf('k'), sentAt: 41 }));
    },
  ],
  [
    'admission',
    (_, checkers) => {
      checkers.admitted({
        node: 0,
        life: 1,
        at: 1,
        block,
        admitsOnFirstRead: true,
        as: 'other',
        lentUntil: -Infinity,
        isAtOnce: false,
      });
    },
  ],
  [
    'durability',
    (_, checkers) => {
      checkers.slotChanged({ node: 0, life: 1, at: 1, slot: 1, kind: 'served' });
    },
  ],
  [
    'durability',
    (_, checkers) => {
      checkers.recordSeen({ ...view, isRotten: false, isOfAnEarlierRun: false });
    },
  ],
  [
    'stored-blocks',
    (_, checkers) => {
      checkers.blockSeen({ ...view, isRotten: false });
    },
  ],
  [
    'bounds',
    (_, checkers) => {
      const level = { name: 'marks', value: 2, limit: 1, restsAtZero: false };
      checkers.stateSeen({ name: 'gateway 0', levels: [level] });
    },
  ],
  [
    'leaks',
    (_, checkers) => {
      const level = { name: 'pins', value: 1, limit: 1, restsAtZero: true };
      checkers.stateSeen({ name: 'node 0', levels: [level] });
      checkers.restSeen({ name: 'node 0', levels: [level] });
    },
  ],
  [
    'liveness',
    (made, checkers) => {
      made.write({ startedAt: 20 });
      checkers.ended(0);
    },
  ],
  [
    'rings',
    (_, checkers) => {
      const by = { process: 'node', id: 0, life: 1 } as const;
      checkers.ringAdopted({ by, at: 1, version: 1, members: [0], owners: [1] });
    },
  ],
  [
    'rings',
    (_, checkers) => {
      const process = { name: 'node 0', version: 1, members: [0, 1] };
      checkers.clusterSeen({ running: [0], processes: [process] });
    },
  ],
  [
    'handovers',
    (_, checkers) => {
      const at = { bucket: 'b', key: 'k', etag: '"x"', first: 0 };
      checkers.movedFill({ ...at, node: 1, life: 1, sentAt: 9, learnedAt: 1, holders: [0] });
    },
  ],
  [
    'standing-in',
    (_, checkers) => {
      const gateway = { gateway: 0, gatewayLife: 1 };
      checkers.nodeFailed({ ...gateway, node: 2, at: 1 });
      checkers.standInAsked({ ...gateway, node: 2, ranked: [1, 2], at: 2 });
    },
  ],
];
for (const [name, plant] of planted) {
  void test(`a violation reaches the door under its checker’s name: ${name}`, () => {
    const { made, checkers } = checked();
    plant(made, checkers);
    assert.equal(checkers.violation?.checker, name);
  });
}

void test('the first violation stays, and the body that it is about', () => {
  const { made, checkers } = checked();
  const version = made.put(10, 'k', 40);
  const first = made.answer(version, { startedAt: 20 });
  first.body[0]![0]! ^= 1;
  checkers.answerEnded(first);
  const { violation } = checkers;
  const second = made.answer(version, { startedAt: 20 });
  second.size = 1;
  checkers.answerEnded(second);
  assert.equal(checkers.violation, violation);
  assert.ok(first.body.length > 0);
  assert.deepEqual(violation?.objects, ['b/k']);
});

void test('a failure tells what happened to its objects, the last events in order, and faults', () => {
  const { made } = checked();
  const version = made.put(10, 'k', 40);
  made.put(10, 'other', 7);
  made.answer(version, { startedAt: 20, range: 'bytes=0-9' });
  made.written(100, 'k', 'done');
  made.history.faultBegan({ what: 'node 2 crashed', from: 90, until: 95, gateway: -1, object: '' });
  made.history.faultBegan({ what: 'slow', from: 91, until: 99, gateway: -1, object: 'b/other' });
  made.fetch({ request: requestOf('k'), sentAt: 21 });
  made.lookup({ arrivedAt: 20.5 });
  const lines = describeObjects(made.history, made.oracle, ['b/k'], 100);
  assert.deepEqual(
    lines.map((line) => line.trim()),
    [
      `10.000 ms  S3: b/k becomes ${version.etag}, 40 bytes, behind the cache`,
      '20.000 ms  read 0: client 0 asks gateway 0 for GET b/k bytes=0-9',
      '20.500 ms  node 0 is asked for a lookup (node read 0)',
      '21.000 ms  request 0 to S3: node 0 (life 1), fetch, GET b/k',
      `30.000 ms  read 0: 206 ${version.etag}, 10 bytes from 0`,
      '35.000 ms  read 0: finished with 10 bytes',
      '90.000 ms  fault: node 2 crashed',
      '95.000 ms  fault over: node 2 crashed',
      '100.000 ms  write 0: client 0 asks gateway 0 for put of b/k',
      `101.000 ms  S3: b/k becomes ${made.oracle.current('b', 'k').etag}, 50 bytes, by write 0`,
      '102.000 ms  write 0: the gateway concludes done',
      '102.000 ms  write 0: done 0 ',
    ].map((line) => line.trim()),
  );
  assert.deepEqual(describeObjects(made.history, made.oracle, ['b/k'], 2), lines.slice(-2));
});

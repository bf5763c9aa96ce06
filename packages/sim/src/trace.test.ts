import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Trace, traced, type ArgumentNames } from './trace.ts';

interface Port {
  open(door: number, request: { readonly name: string; readonly bytes: Uint8Array }): void;
  close(door: number): void;
}

const names: ArgumentNames<Port> = { open: ['door', 'request'], close: ['door'] };
const clock = { now: 1.5 };

function play(trace: Trace, door: number): string[] {
  const calls: string[] = [];
  const openers = {
    open: (number: number, { name }: { readonly name: string }): void => {
      calls.push(`open ${number} ${name}`);
    },
  };
  const closers = {
    close: (number: number): void => {
      calls.push(`close ${number}`);
    },
  };
  const port = traced<Port>([openers, closers], names, trace, 'house', clock);
  port.open(door, { name: 'red', bytes: new Uint8Array(3) });
  port.close(door);
  return calls;
}

describe('a trace', () => {
  test('takes each effect to the driver that has it', () => {
    assert.deepEqual(play(new Trace(), 7), ['open 7 red', 'close 7']);
  });

  test('has the same hash for the same calls, and another one for others', () => {
    const hashes = [7, 7, 8].map((door) => {
      const trace = new Trace();
      play(trace, door);
      return trace.hash;
    });
    assert.equal(hashes[0], hashes[1]);
    assert.notEqual(hashes[0], hashes[2]);
    assert.match(hashes[0]!, /^[0-9a-f]{8}$/);
  });

  test('depends on when and to whom', () => {
    const hashOf = (time: number, who: string): string => {
      const trace = new Trace();
      trace.note(time, who, 'open', [], []);
      return trace.hash;
    };
    assert.notEqual(hashOf(1, 'a'), hashOf(1.001, 'a'));
    assert.notEqual(hashOf(1, 'a'), hashOf(1, 'b'));
  });

  test('reads as lines', () => {
    const printed: string[] = [];
    const trace = new Trace((line) => printed.push(line));
    play(trace, 7);
    assert.equal(printed.length, 2);
    assert.match(printed[0]!, /1\.500 house +open door=7 request=\{name: red, bytes: 3 bytes\}$/);
    assert.match(printed[1]!, / close door=7$/);
  });

  test('refuses a port that no driver carries out', () => {
    assert.throws(
      () => traced<Port>([{ close: () => undefined }], names, new Trace(), 'house', clock),
      /every effect has a driver/,
    );
  });
});

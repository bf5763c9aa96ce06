import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EventQueue } from './event-queue.ts';
import { ProcessClock } from './process-clock.ts';
import { Ticker } from './ticker.ts';

/** Has one deadline after the other, and says when it was called. */
class Machine {
  readonly deadlines: number[];
  readonly ticks: number[] = [];

  constructor(deadlines: number[]) {
    this.deadlines = deadlines;
  }

  nextDeadline(): number {
    return this.deadlines[0] ?? Infinity;
  }

  onTick(now: number): void {
    assert.ok(now >= this.nextDeadline(), 'a deadline has passed when it is looked at');
    this.ticks.push(now);
    this.deadlines.shift();
  }
}

function setUp(machine: Machine, drift = 0.001): { queue: EventQueue; ticker: Ticker } {
  const queue = new EventQueue();
  const clock = new ProcessClock(queue, 12_345.678, drift);
  return { queue, ticker: new Ticker(queue, clock, machine, () => 3) };
}

describe('a process’s ticker', () => {
  test('comes after each deadline by the process’s own clock, late and never early', () => {
    for (const drift of [-0.001, 0, 0.001]) {
      const machine = new Machine([12_400, 12_500, 13_000]);
      const { queue, ticker } = setUp(machine, drift);
      ticker.afterEvent();
      while (queue.step());
      assert.equal(machine.ticks.length, 3);
      for (const [index, deadline] of [12_400, 12_500, 13_000].entries()) {
        assert.ok(machine.ticks[index]! < deadline + 4);
      }
    }
  });

  test('follows a deadline that has become earlier', () => {
    const machine = new Machine([20_000]);
    const { queue, ticker } = setUp(machine);
    ticker.afterEvent();
    machine.deadlines.unshift(13_000);
    ticker.afterEvent();
    queue.step();
    assert.ok(machine.ticks[0]! < 13_100);
  });

  test('is silent once its process is over', () => {
    const machine = new Machine([12_400]);
    const { queue, ticker } = setUp(machine);
    ticker.afterEvent();
    ticker.stop();
    while (queue.step());
    assert.deepEqual(machine.ticks, []);
  });
});

/** A worker: a process that carries one part of one step, told by the command that started it. */
import { raiseFileLimit } from '@s3-accelerator/native/files.ts';
import { Reactor } from '@s3-accelerator/native/reactor.ts';
import { openReactorWire } from '../http/reactor-wire.ts';
import { openSocketWire } from '../http/socket-wire.ts';
import type { OpenWire } from '../http/wire.ts';
import type { FromWorker, StepJob, ToWorker } from './messages.ts';
import { StepRun } from './step-run.ts';

function tell(message: FromWorker): void {
  process.send!(message);
}

function wiresFor({ address, step }: StepJob): OpenWire {
  const { host, port, serverName } = address;
  if (serverName !== null) return openSocketWire(host, port, serverName);
  const receiveBytes = step.range === null || step.range.bytes > 65_536 ? 262_144 : 65_536;
  const reactor = new Reactor({ receiveBytes, maxConnections: step.connections + 16 });
  return openReactorWire(reactor, host, port);
}

let run: StepRun | null = null;

async function prepare(job: StepJob): Promise<void> {
  raiseFileLimit();
  run = new StepRun(job, wiresFor(job), () => tell({ kind: 'wrong' }));
  tell({ kind: 'ready', ...(await run.connect()) });
}

async function go(startAt: number): Promise<void> {
  const start = startAt - performance.timeOrigin;
  const share = await run!.start(start, (second) => tell({ kind: 'second', second }));
  process.send!({ kind: 'done', share } satisfies FromWorker, () => process.exit(0));
}

process.on('message', (message: ToWorker) => {
  switch (message.kind) {
    case 'prepare':
      void prepare(message.job);
      break;
    case 'go':
      void go(message.startAt);
      break;
    case 'stop':
      run?.stop();
      break;
  }
});
// The command decides what a Ctrl-C means; without the command there is nobody left to tell.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(1));

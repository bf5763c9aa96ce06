/** The thread of a further loop: begins here, and does what the first loop says. */
import { parentPort, workerData } from 'node:worker_threads';
import type { FromLoop, LoopStart, ToLoop } from './loop-messages.ts';
import { runLoop } from './run-loop.ts';

const port = parentPort;
if (port === null) throw new Error('a loop has a first one that started its thread');

const tell = (message: FromLoop): void => {
  port.postMessage(message);
};
const loop = runLoop(workerData as LoopStart, tell);
port.on('message', (message: ToLoop) => {
  switch (message.kind) {
    case 'reload':
      loop.reload(message.config);
      break;
    case 'figures':
      loop.tellFigures();
      break;
    case 'stop':
      // The thread ends by itself, as nothing is left.
      void loop.stop().then(() => {
        port.close();
      });
  }
});

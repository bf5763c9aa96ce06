/** Several loops of one gateway: what they share, that they live and end as one process, and what all gateways are told. */
import type { PlantedBug } from '../planted-bug.ts';

const loops = 'packages/server/src/loops';
const start = 'packages/server/src/start/start.ts';
const server = ['loops'];

export const loopBugs: readonly PlantedBug[] = [
  {
    name: 'epochs-for-each-loop',
    breaks: [4],
    file: `${loops}/run-loop.ts`,
    find: '...sharedParts(memory, settings),',
    replace:
      '...sharedParts({ ...memory, writeEpochs: new Uint32Array(memory.writeEpochs.length) }, settings),',
    why: 'A loop answers from memory what another loop’s client has written over.',
    server,
  },
  {
    name: 'slots-mixed-by-each-loop',
    breaks: [4],
    file: `${loops}/shared-memory.ts`,
    find: 'new WriteEpochs(memory.writeEpochs, memory.writeSeed)',
    replace: 'new WriteEpochs(memory.writeEpochs, randomBytes(4).readUInt32LE(0))',
    why: 'A loop that writes raises another slot than the one that the others look at.',
    server,
  },
  {
    name: 'connections-counted-by-each-loop',
    breaks: [9],
    file: `${loops}/shared-memory.ts`,
    find: 'new ConnectionBudget(maxConnections, memory.connections)',
    replace: 'new ConnectionBudget(maxConnections)',
    why: 'A gateway takes as many times the connections that it may have as it has loops.',
    server,
  },
  {
    name: 'reload-of-the-first-loop-alone',
    breaks: [7],
    file: start,
    find: '      await loops?.reload(wanted);\n',
    replace: '',
    why: 'A client that was taken back is served on by all loops but one.',
    server,
  },
  {
    name: 'dead-loop-goes-unnoticed',
    breaks: [9],
    file: `${loops}/loop-thread.ts`,
    find: '    else if (!this.#isStopping) this.#onDied(error);\n',
    replace: '',
    why: 'A process goes on with a listener less, and its clients’ connections are gone.',
  },
  {
    name: 'further-loops-cut-off',
    breaks: [9],
    file: start,
    find: 'await Promise.all([gateway?.stop(), loops?.stop()]);',
    replace: 'await gateway?.stop();',
    why: 'A restart cuts the answers of every loop but the first.',
    server,
  },
  {
    name: 'gateways-not-told-of-buckets',
    breaks: [1],
    file: 'packages/server/src/peers/peers.ts',
    find: 'if (this.#bucketMarks.said(nodeId, mark)) this.#events.onBucketsChanged();',
    replace: 'this.#bucketMarks.said(nodeId, mark);',
    why: 'Gateways go on answering for the origin that a bucket pointed at before.',
    server: ['moved-bucket'],
  },
  {
    name: 'loop-that-stands-still-is-ready',
    breaks: [9],
    file: `${loops}/heartbeats.ts`,
    find: 'return silentMs > standstillMs;',
    replace: 'return silentMs > standstillMs && silentMs < 0;',
    why: 'Nobody is told that a loop takes connections and answers none.',
    server,
  },
];

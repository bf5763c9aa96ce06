/** Several nodes: the ring on its way to gateways, and what is under way when nodes come and go. */
import type { PlantedBug } from '../planted-bug.ts';

const peers = 'packages/server/src/peers';

export const clusterBugs: readonly PlantedBug[] = [
  {
    name: 'ring-change-goes-unnoticed',
    breaks: ['thrift'],
    file: `${peers}/multiplexed-link.ts`,
    find: 'ringMark === ring.mark || ringMark === 0 || this.#asksRing)',
    replace: 'ringMark === ring.mark || ring.version > 0 || this.#asksRing)',
    why: 'A gateway goes on asking the owners of an old ring, and they fetch what others have.',
  },
  {
    name: 'older-ring-replaces-newer',
    breaks: [8],
    file: 'packages/server/src/cluster/process-ring.ts',
    find: 'return version < this.version ? this.history.rings(this.#now()) : [];',
    replace: 'return version !== this.version ? this.history.rings(this.#now()) : [];',
    why: 'A node that lags behind hands its ring to a gateway that has a newer one.',
  },
  {
    name: 'former-members-are-cut-off',
    breaks: [8],
    file: `${peers}/peers.ts`,
    find: 'peer.retire();',
    replace: 'peer.close();',
    why: 'A ring change breaks off what is under way at the node that goes.',
  },
  {
    name: 'former-members-stay-for-ever',
    breaks: [9],
    file: `${peers}/peers.ts`,
    find: 'if (!peer.isIdle) return;',
    replace: 'if (!peer.isIdle || this.#retired.size > 0) return;',
    why: 'Links to every node that ever was a member are kept, and pinged.',
  },
  {
    name: 'node-that-stops-breaks-off',
    breaks: [9],
    file: `${peers}/link-server.ts`,
    find: 'if (link.serving) link.sendBareFrame(FrameType.leaving, 0);',
    replace: 'if (link.serving) link.end();',
    why: 'A restart fails the uploads that it meets.',
  },
  {
    name: 'upload-is-sent-twice',
    breaks: [4],
    file: `${peers}/asked-forward.ts`,
    find: 'return bodyLength > 0 && !this.#bodyLeft;',
    replace: 'return bodyLength > 0;',
    why: 'A write whose outcome nobody knows is made again, over what came after it.',
  },
  {
    name: 'upload-loses-its-start',
    breaks: [1],
    file: `${peers}/asked-forward.ts`,
    find: 'for (const bytes of early) blocked = !sent.write(bytes);',
    replace: 'for (const bytes of early.slice(1)) blocked = !sent.write(bytes);',
    why: 'What was written before there was a link never reaches S3.',
  },
];

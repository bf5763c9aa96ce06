/** What the arguments of the machines' effects are called in a trace. Complete, or it doesn't compile. */
import type { GatewayEffects } from '@s3-accelerator/core/gateway/effects.ts';
import type { MembershipEffects } from '@s3-accelerator/core/membership/effects.ts';
import type { NodeEffects } from '@s3-accelerator/core/node/effects.ts';
import type { ArgumentNames } from '../trace.ts';

export const gatewayEffectNames: ArgumentNames<GatewayEffects> = {
  sendRead: ['read', 'node', 'request'],
  cancelRead: ['read'],
  answerHead: ['exchange', 'status', 'metadata', 'first', 'length', 'known', 'restarts'],
  relayBody: ['exchange', 'read'],
  awaitTaken: ['exchange'],
  finish: ['exchange'],
  abort: ['exchange'],
  answerError: ['exchange', 'code', 'metadata'],
  answerOriginError: ['exchange', 'error'],
  passThrough: ['exchange'],
};

export const nodeEffectNames: ArgumentNames<NodeEffects> = {
  hintHot: ['asker', 'hint'],
  answerMetadata: ['asker', 'metadata', 'age', 'lifetime'],
  answerMetadataFromSlot: [
    'asker',
    'metadata',
    'age',
    'lifetime',
    'bodyFirst',
    'slot',
    'offset',
    'length',
  ],
  answerMetadataFromMemory: [
    'asker',
    'metadata',
    'age',
    'lifetime',
    'bodyFirst',
    'memory',
    'length',
    'isKept',
  ],
  answerFromSlot: ['asker', 'slot', 'offset', 'length'],
  beginAnswer: ['asker', 'length', 'isKept'],
  continueFromMemory: ['asker', 'memory', 'length'],
  abortAnswer: ['asker'],
  answerFailure: ['asker', 'failure', 'error'],
  startFetch: ['fetch', 'request'],
  sendToNode: ['node', 'message'],
  startPeerFetch: ['fetch', 'node', 'request'],
  receiveInto: ['fetch', 'memory', 'length'],
  receiveDirect: ['fetch', 'asker'],
  cancelFetch: ['fetch'],
  writeSlot: ['slot', 'memory', 'length'],
  syncSlab: [],
  writeRecord: ['slot', 'record'],
  syncTable: [],
  verifySlot: ['slot'],
  logMetadata: ['hash', 'metadata'],
  logForgotten: ['hash'],
  compactMetadataLog: [],
};

export const membershipEffectNames: ArgumentNames<MembershipEffects> = {
  send: ['address', 'packet'],
  joined: ['founded'],
  ringChanged: ['ring'],
  memberChanged: ['record'],
  conflict: ['conflict'],
};

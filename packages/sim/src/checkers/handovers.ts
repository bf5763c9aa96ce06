/**
 * Handovers (SPEC §3.4): within the window after a ring change, a block that a previous owner holds isn't read from S3 before that
 * owner was asked for it; one that was silent or couldn't be reached may be left alone for a while.
 */
import type { History } from '../history/history.ts';
import type { MovedFill, PeerAsk } from '../history/peer-ask.ts';
import { atMost, type Rules } from './rules.ts';

/** Called as a node begins to receive a fill from S3 whose first block a previous owner held. */
export function checkMovedFill(history: History, rules: Rules, fill: MovedFill): string | null {
  const { node, life, bucket, key, etag, first, learnedAt, holders } = fill;
  const { peerAsks } = history.of(bucket, key);
  const isOfFill = (ask: PeerAsk): boolean =>
    ask.node === node && ask.life === life && ask.etag === etag && ask.first === first;
  // Whom to ask was settled before it learned of the last ring.
  const isSettled = (ask: PeerAsk): boolean => isOfFill(ask) && ask.askedAt < learnedAt;
  if (peerAsks.some((ask) => isSettled(ask) && ask.endedAt >= learnedAt)) return null;
  for (const peer of holders) {
    if (peerAsks.some((ask) => ask.peer === peer && isOfFill(ask))) continue;
    // Whom to ask is looked through once: an owner that is left alone then isn't asked later either.
    const moments = [fill.sentAt, ...peerAsks.filter(isOfFill).map(({ askedAt }) => askedAt)];
    if (moments.some((at) => wasSilent(history.peerAsks, rules, fill, peer, at))) continue;
    return `node ${node} read byte ${first} of ${bucket}/${key} ${etag} from S3, and never asked node ${peer}, which had owned and holds it`;
  }
  return null;
}

/**
 * Whether a node had said nothing lately at that moment: each try that fails lets it rest again, and while one that was silent is being tried, nobody else
 * asks it.
 */
function wasSilent(
  asks: readonly PeerAsk[],
  rules: Rules,
  { node, life }: MovedFill,
  peer: number,
  at: number,
): boolean {
  let silentAt = -Infinity;
  let spokeAt = -Infinity;
  let isTried = false;
  for (const ask of asks) {
    if (ask.peer !== peer || ask.node !== node || ask.life !== life) continue;
    if (ask.askedAt > at) break;
    const { answeredAt, endedAt } = ask;
    if (Math.min(answeredAt, endedAt) > at) isTried = true;
    if (answeredAt <= at) spokeAt = Math.max(spokeAt, answeredAt);
    if (isSilence(ask) && endedAt <= at) silentAt = Math.max(silentAt, endedAt);
  }
  if (silentAt < spokeAt || silentAt === -Infinity) return false;
  return isTried || silentAt >= at - atMost(2 * rules.peerRestMs, rules);
}

/** Whether it ended because nothing came: one that broke off after its answer has spoken. */
function isSilence({ end, answeredAt }: PeerAsk): boolean {
  return end === 'givenUp' || (end === 'failed' && answeredAt === Infinity);
}

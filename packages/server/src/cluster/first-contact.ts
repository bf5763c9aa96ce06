/**
 * Tries to open a link to nodes that didn't answer gossip, so that the reason is in the log of both.
 *
 * Gossip is silent towards whoever holds another secret or speaks another version. A link's handshake isn't: each end logs one
 * line that says why. So a node that was named others, found nobody and began a cluster by itself knocks at their links once.
 */
import type { Reactor } from '@s3-accelerator/native/reactor.ts';
import type { Address } from '../config/address.ts';
import type { FaultLog } from '../log.ts';
import { LinkContext } from '../peers/link-context.ts';
import { AskingHandshake } from '../peers/link-handshake.ts';
import type { LinkOptions } from '../peers/link-options.ts';
import { Link, type LinkUser } from '../peers/link.ts';

export function knockAt(
  nodes: readonly Address[],
  reactor: Reactor,
  options: LinkOptions,
  faults: FaultLog,
): void {
  const context = new LinkContext(reactor, options, faults);
  for (const { host, port } of nodes) {
    const handshake = new AskingHandshake(options.secret, 'multiplexed');
    Link.ask(context, host, port, handshake, visitor);
  }
}

/** Leaves as soon as it is let in. */
const visitor: LinkUser = {
  onOpen: (link) => {
    link.end();
  },
  onFrame: () => undefined,
  onBody: () => undefined,
  onSent: () => undefined,
  onRelayed: () => undefined,
  onLost: () => undefined,
};

/** Reads that come over links, on their way into the node. */
import type { NodeMessage } from '@s3-accelerator/core/node-message.ts';
import type { ReadRequest } from '@s3-accelerator/core/read.ts';
import type { NodeReads } from '../peers/served-reads.ts';
import { slotOfToken } from './link-answers.ts';
import { linkAsker, type NodeDriver } from './node-driver.ts';

export class LinkReads implements NodeReads {
  readonly #driver: NodeDriver;

  constructor(driver: NodeDriver) {
    this.#driver = driver;
  }

  onRead(asker: number, request: ReadRequest): void {
    this.#driver.onRead(linkAsker(asker), request);
  }

  onReadCancelled(asker: number): void {
    this.#driver.onReadCancelled(linkAsker(asker));
  }

  onMessage(message: NodeMessage): void {
    this.#driver.onMessage(message);
  }

  onSent(token: number, errno: number): void {
    this.#driver.onSlotSent(slotOfToken(token), errno);
  }
}

import type { NodeMessage } from '@s3-accelerator/core/node-message.ts';

/** The end of a node that others tell something. */
export interface MessageTaker {
  hear(message: NodeMessage): void;
}

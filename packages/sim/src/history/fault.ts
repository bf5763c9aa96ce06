/**
 * Something that the run did to the system and that may cost a client its answer: a crash, a lost message, a full pool, an
 * error of S3's. Errors and cut answers need one for their excuse.
 */
export interface FaultRecord {
  /** What it is, for messages: `node 2 crashed`. */
  readonly what: string;
  readonly from: number;
  /** When it stopped having effects of its own; the time-outs that it causes may come later. Infinity while it lasts. */
  until: number;
  /** Whom it hurts: a gateway, -1 for all of them, -2 for none: then it is told and excuses nothing. */
  readonly gateway: number;
  /** The object that it hurts as oracle.ts's `nameOf` writes it, '' for all. */
  readonly object: string;
}

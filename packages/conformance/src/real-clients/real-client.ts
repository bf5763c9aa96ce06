/**
 * A program or library that people use S3 by, as the round trips see it.
 *
 * It is found on this machine, or had from Debian or npm without being installed; where neither works it is skipped, by name.
 */
import type { StartedOrigin } from '../origins/started-origin.ts';

/** Where a client works: an endpoint, a bucket that exists, and a folder of its own for files and settings. */
export interface Workplace {
  readonly site: StartedOrigin;
  readonly bucket: string;
  readonly folder: string;
}

/** A client that moves single files. Names of keys are as people write them. */
export interface FileClient {
  put(file: string, key: string): Promise<unknown>;
  get(key: string, file: string): Promise<unknown>;
  /** Keys that begin with a prefix. */
  keys(prefix: string): Promise<readonly string[]>;
  remove(key: string): Promise<unknown>;
}

/** A client that is here. */
export interface FoundClient {
  readonly version: string;
  /** For clients that move files; the others make their round trip by themselves. */
  readonly files?: (workplace: Workplace) => FileClient;
  /** Writes, reads back and compares. @throws what went wrong */
  readonly roundTrip?: (workplace: Workplace) => Promise<void>;
  /** Keys that it can't name, and why. */
  readonly unnameable?: ReadonlyMap<string, string>;
}

export interface RealClient {
  readonly name: string;
  /** @throws why it can't be had here */
  find(): Promise<FoundClient>;
}

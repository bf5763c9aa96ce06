/** An S3 that the suite started for itself. */
import type { Credentials } from '../signed-request.ts';

export interface StartedOrigin {
  /** What its known deviations are listed by. */
  readonly name: string;
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: Credentials;
  /** Whether it takes checksums in trailers, as the accelerator's configuration says. */
  readonly checksumTrailers: boolean;
  stop(): Promise<void>;
}

/** One that is a single process. */
export interface StartedProcess extends StartedOrigin {
  readonly pid: number;
}

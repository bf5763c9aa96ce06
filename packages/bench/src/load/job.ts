/** What one run of the load client is asked, as JSON on its standard input, and what it answers on its output. */

/** How the requests of a job differ from each other. */
export type Spread =
  | { readonly kind: 'ranges'; readonly keys: readonly string[]; readonly objectBytes: number }
  | { readonly kind: 'objects'; readonly prefix: string; readonly count: number };

export interface LoadJob {
  readonly port: number;
  readonly connections: number;
  readonly requests: number;
  /** Bytes of each answer's body. */
  readonly bodyBytes: number;
  readonly bucket: string;
  readonly spread: Spread;
  /** Requests are signed with these; peers that check no signature ignore the headers. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Go through the spread in order instead of in a shuffled order. */
  readonly sequential: boolean;
  readonly seed: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly errors: number;
  /** The first unexpected answer, for a person; '' when all went well. */
  readonly firstError: string;
  readonly bytes: number;
  /** User and system time of the client's own process meanwhile. */
  readonly clientCpuSeconds: number;
  /** Milliseconds to the first byte of the answer. */
  readonly firstByteMs: { readonly p50: number; readonly p99: number; readonly max: number };
}

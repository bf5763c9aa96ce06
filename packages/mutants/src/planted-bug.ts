/** One wrong line that somebody could write one day, and that the tests must notice. */
export interface PlantedBug {
  /** kebab-case, unique: what `--only` takes. */
  readonly name: string;
  /** What it breaks: one of the ten invariants, or thrift. */
  readonly breaks: readonly Rule[];
  /** The file that it is planted into, from the root of the repository. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What would go wrong, in one sentence. */
  readonly why: string;
  /** End-to-end test files of packages/server/src/end-to-end that are there for this kind of bug, by name. */
  readonly server?: readonly string[];
  /** It makes something wait for ever: a layer that runs out of time has noticed it. */
  readonly hangs?: true;
}

/** The invariants of SPEC.md by number, and the one promise beside them that tests hold us to. */
export type Rule = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 'thrift';

/** The rules in a few words each, in the order of tables. */
export const rules: ReadonlyMap<Rule, string> = new Map<Rule, string>([
  [1, 'an answer is one that S3 could have given, never a mixture'],
  [2, 'blocks are keyed by version and index; no strong ETag, no caching'],
  [3, 'every fill after the first fetch carries If-Match'],
  [4, 'a write is seen by its gateway’s next read'],
  [5, 'errors are never cached or shared with later requests'],
  [6, 'records follow bytes, and a crash is followed by checksums'],
  [7, 'no credential gets a byte that its grants don’t cover'],
  [8, 'disagreement about the ring costs fills, never wrong data'],
  [9, 'every read ends, and nothing leaks'],
  [10, 'preconditions come before ranges'],
  ['thrift', 'admission, eviction and shared fetches spare S3 and the disk'],
]);

/**
 * Times what a gateway knows of objects: lookups that hit, over all objects and over a few, lookups that miss, and metadata that
 * comes anew once the cache is full. `node metadata-cache.bench.ts [OBJECTS]`.
 *
 * The result hash follows from the sizes that were found.
 */
import { mix32, type Hash128 } from '../base/hash.ts';
import { Prng } from '../base/prng.ts';
import { nanoseconds, printFigures } from '../base/stopwatch.bench.ts';
import { MetadataCache, type CachedMetadata } from './metadata-cache.ts';

export interface MetadataCacheFigures {
  /** Nanoseconds of a lookup of a random object. */
  readonly getRandom: number;
  /** Of one of a thousand. */
  readonly getHot: number;
  readonly getMissing: number;
  /** Of metadata that pushes the least recently used out. */
  readonly putAndEvict: number;
  readonly resultHash: number;
}

/** Measures a cache that is full with as many objects. */
export function measureMetadataCache(objects: number): MetadataCacheFigures {
  const cache = new MetadataCache(objects, Number.MAX_SAFE_INTEGER, 1);
  const hash: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  const order = new Int32Array(objects);
  const prng = new Prng(5, 6);
  for (let i = 0; i < objects; i++) order[i] = prng.below(objects);
  const headerLines = new Uint8Array(100);
  let resultHash = 0;
  const at = (i: number): Hash128 => {
    hash.h0 = Math.imul(i, 0x9e3779b1) >>> 0;
    hash.h1 = Math.imul(i, 0x85ebca6b) >>> 0;
    hash.h2 = i;
    hash.h3 = ~i >>> 0;
    return hash;
  };
  const entryOf = (size: number): CachedMetadata => ({
    metadata: {
      etag: '"0123456789abcdef"',
      size,
      lastModified: 1,
      headerLines,
      knowsChecksums: true,
      version: { h0: size, h1: 0, h2: 0, h3: 0 },
    },
    validUntil: Infinity,
    knownAfter: 0,
  });
  const put = (from: number): number =>
    nanoseconds(objects, (i) => cache.put(at(from + i), entryOf(from + i)));
  const get = (base: number, mask: number): number =>
    nanoseconds(objects, (i) => {
      const found = cache.get(at(base + (order[i]! & mask)));
      resultHash = mix32(resultHash ^ (found?.metadata.size ?? 1));
    });
  put(0);
  get(0, -1);
  const getRandom = get(0, -1);
  const getHot = get(0, 1023);
  const getMissing = get(3 * objects, -1);
  put(objects);
  const putAndEvict = put(2 * objects);
  get(2 * objects, -1);
  return { getRandom, getHot, getMissing, putAndEvict, resultHash: resultHash >>> 0 };
}

if (import.meta.main) {
  const objects = Number(process.argv[2] ?? 100_000);
  console.log(`${objects} objects`);
  printFigures(measureMetadataCache(objects));
}

/** The policies that the lab knows, by the names that the command takes. */
import type { BlockPolicy, CacheSizes } from './block-policy.ts';
import { QueuePolicy } from './queue-policy.ts';
import { StorePolicy } from './store-policy.ts';

export interface PolicyChoice {
  readonly name: string;
  readonly about: string;
  make(sizes: CacheSizes): BlockPolicy;
}

export const ALL_POLICIES: readonly PolicyChoice[] = [
  {
    name: 'ours',
    about: 'S3-FIFO with the doorkeeper: the store as it runs',
    make: (sizes) => new StorePolicy(sizes, true),
  },
  {
    name: 's3-fifo',
    about: 'the same store, admitting every block on its first read',
    make: (sizes) => new StorePolicy(sizes, false),
  },
  {
    name: 'lru',
    about: 'least recently used',
    make: (sizes) => new QueuePolicy(sizes, true),
  },
  {
    name: 'fifo',
    about: 'first in, first out',
    make: (sizes) => new QueuePolicy(sizes, false),
  },
];

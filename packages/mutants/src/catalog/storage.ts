/** The store: who is found, where slots lie, and what their bytes are. */
import type { PlantedBug } from '../planted-bug.ts';

const store = 'packages/core/src/store/store.ts';
const allocator = 'packages/core/src/store/slot-allocator.ts';
const records = 'packages/core/src/store/slot-records.ts';

export const storageBugs: readonly PlantedBug[] = [
  {
    name: 'wrong-slot-offset',
    breaks: [1, 6],
    file: allocator,
    find: 'return extent * this.classes.extentBytes + this.#records.place(slot) * slotBytes;',
    replace:
      'return extent * this.classes.extentBytes + this.#records.place(slot) * (slotBytes - (slotBytes > 8192 ? 4096 : 0));',
    why: 'Slots overlap, and a block is served with another one’s end.',
  },
  {
    name: 'slot-of-the-next-smaller-class',
    breaks: [1, 6],
    file: 'packages/core/src/store/size-classes.ts',
    find: 'const pages = Math.ceil(bytes / SLOT_ALIGNMENT);',
    replace: 'const pages = Math.max(1, Math.floor(bytes / SLOT_ALIGNMENT));',
    why: 'A block is written beyond its slot.',
  },
  {
    name: 'slot-released-while-others-send',
    breaks: [1, 9],
    file: store,
    find: '    if (this.#records.pins(slot) > 0) return;\n    this.#counters.pinned--;',
    replace: '    if (this.#records.pins(slot) > 1) return;\n    this.#counters.pinned--;',
    why: 'A slot is free while its last answer but one is being sent.',
  },
  {
    name: 'leaving-slot-never-freed',
    breaks: [9],
    file: store,
    find: 'if (this.#records.state(slot) === LEAVING) this.#allocator.release(slot);',
    replace:
      'if (this.#records.state(slot) === LEAVING && this.#counters.pinned > 0) this.#allocator.release(slot);',
    why: 'A block that is evicted while it is read costs its slot for ever.',
  },
  {
    name: 'block-index-left-out-of-the-key',
    breaks: [2],
    file: records,
    find: '      words[at + 3] === (version.h3 | 0) &&\n      (words[at + 4]! & BLOCK_MASK) === block',
    replace:
      '      words[at + 3] === (version.h3 | 0) &&\n      (words[at + 4]! & BLOCK_MASK) <= block + 8',
    why: 'One block of a version is served as another.',
  },
  {
    name: 'part-of-the-version-left-out-of-the-key',
    breaks: [2, 7],
    file: records,
    find: '      words[at + 3] === (version.h3 | 0) &&\n      (words[at + 4]! & BLOCK_MASK) === block',
    replace:
      '      words[at + 3] === words[at + 3] &&\n      (words[at + 4]! & BLOCK_MASK) === block',
    why: 'Three quarters of a version’s name are compared: a collision can be found, and serves another tenant’s bytes.',
  },
  {
    name: 'metadata-key-cut-short',
    breaks: [2, 7],
    file: 'packages/core/src/base/lru.ts',
    find: '        keys[at + 3] === (h3 | 0)\n',
    replace: '        keys[at + 3] === keys[at + 3]\n',
    why: 'Two objects whose hashes begin alike share their metadata.',
  },
  {
    name: 'block-published-twice',
    breaks: [2, 9],
    file: store,
    find: 'if (this.#index.hasBlockOf(this.#key, slot)) {',
    replace: 'if (slot < 0 && this.#index.hasBlockOf(this.#key, slot)) {',
    why: 'Two slots hold one block, and only one of them is ever taken out of the index.',
  },
  {
    name: 'double-rows-both-restored',
    breaks: [2, 9],
    file: 'packages/core/src/store/index-filling.ts',
    find: 'if (index.hasBlockOf(key, slot)) doubles.add(slot);',
    replace: 'if (slot < 0 && index.hasBlockOf(key, slot)) doubles.add(slot);',
    why: 'After a restart two slots hold one block, and only one of them is ever taken out of the index.',
  },
  {
    name: 'evicted-block-is-still-found',
    breaks: [1, 2],
    file: store,
    find: '    this.#index.remove(this.#key, slot);\n    this.#counters.blocks--;',
    replace:
      '    if (this.#records.pins(slot) === 0) this.#index.remove(this.#key, slot);\n    this.#counters.blocks--;',
    why: 'A block that left while it was read is found after its slot was given to another.',
  },
  {
    name: 'unreadable-block-is-kept',
    breaks: [6, 9],
    file: 'packages/core/src/node/node.ts',
    find: '    this.#parts.store.drop(slot);\n',
    replace: '',
    why: 'A block on a damaged place of the disk breaks every answer that it is part of.',
  },
  {
    name: 'pin-never-ends',
    breaks: [9],
    file: 'packages/core/src/node/node.ts',
    find: '    this.#parts.store.unpin(slot);\n',
    replace: '',
    why: 'Every block that was ever served can no longer be evicted.',
  },
  {
    name: 'length-of-the-block-before',
    breaks: [1],
    file: records,
    find: '    words[at + 5] = length - 1;\n',
    replace: '    words[at + 5] = Math.max(words[at + 5]!, length - 1) & LENGTH_MASK;\n',
    why: 'A slot that held a longer block answers with bytes of it.',
  },
  {
    name: 'lru-forgets-the-newest',
    breaks: [9],
    file: 'packages/core/src/base/lru.ts',
    find: '      this.#drop(this.#newer[0]!);\n',
    replace: '      this.#drop(this.#older[0]!);\n',
    why: 'A full table of metadata keeps what nobody asks for.',
  },
  {
    name: 'lru-outgrows-its-bytes',
    breaks: [9],
    file: 'packages/core/src/base/lru.ts',
    find: 'while (this.#count === this.maxEntries || this.#bytes + bytes > this.maxBytes) {',
    replace: 'while (this.#count === this.maxEntries) {',
    why: 'Metadata takes more memory than it was given.',
  },
  {
    name: 'id-outlives-its-record',
    breaks: [1, 9],
    file: 'packages/core/src/base/slot-pool.ts',
    find: 'return slot < this.#records.length && this.#ids[slot] === id;',
    replace: 'return slot < this.#records.length && this.#ids[slot]! >= 0;',
    why: 'A completion that comes late is taken for somebody else’s.',
  },
  {
    name: 'tail-of-a-slot-not-cleared',
    breaks: [7],
    file: 'packages/server/src/disk/slots.ts',
    find: '    this.#fillMemory.fill(0, memory + blockBytes, memory + length);\n',
    replace: '',
    why: 'What another tenant’s object left in memory is written to disk behind a block.',
    server: ['quick-start'],
  },
];

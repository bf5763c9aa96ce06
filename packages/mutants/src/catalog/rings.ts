/** Who is in the ring, which ring counts, and whom it makes everybody ask. */
import type { PlantedBug } from '../planted-bug.ts';

const membership = 'packages/core/src/membership';
const plan = 'packages/core/src/gateway/plan.ts';
const handovers = 'packages/core/src/node/handovers.ts';

export const ringBugs: readonly PlantedBug[] = [
  {
    name: 'old-ring-of-the-same-epoch-stays',
    breaks: [8],
    file: `${membership}/ring-view.ts`,
    find: 'if (isKnown || epochOf(version) < table.epoch) return;',
    replace: 'if (isKnown || epochOf(version) <= table.epoch) return;',
    why: 'A gateway that outlives a whole cluster asks the nodes of the old one for ever.',
  },
  {
    name: 'cut-off-node-takes-all-places',
    breaks: ['thrift'],
    file: `${membership}/verdicts.ts`,
    find: 'return running * 2 < placed;',
    replace: 'return running * 2 < placed && placed === 0;',
    why: 'A node that nobody reaches for a minute comes back with a ring of its own, and everything moves twice.',
  },
  {
    name: 'restart-takes-another-place',
    breaks: ['thrift'],
    file: `${membership}/identity.ts`,
    find: 'isSame ? known.place : renewedPlace(known.place);',
    replace: 'renewedPlace(known.place) + (isSame ? 0 : 0);',
    why: 'Each restart is a ring change, for which everybody looks at all that he has.',
  },
  {
    name: 'node-that-leaves-is-called-back',
    breaks: ['thrift'],
    file: `${membership}/identity.ts`,
    find: "place = self.phase === 'leaving' ? vacatedPlace(told.place) : renewedPlace(told.place);",
    replace: 'place = renewedPlace(told.place);',
    why: 'What others say of a node that leaves makes it take its place again.',
  },
  {
    name: 'node-that-left-is-never-tried',
    breaks: [8],
    file: `${membership}/prober.ts`,
    find: "if (status === undefined || status === 'left') gone.push(seed);",
    replace: 'if (status === undefined) gone.push(seed);',
    why: 'A node that left and came back while nobody whom it names ran is a cluster of its own beside the old one for ever.',
  },
  {
    name: 'gateway-keeps-its-first-ring',
    breaks: [8],
    file: plan,
    find: `set ring(ring: Ring) {
    this.#ring = ring;`,
    replace: `set ring(ring: Ring) {
    if (this.#ring.version === 0) this.#ring = ring;`,
    why: 'A gateway asks nodes that are gone, and never those that came.',
  },
  {
    name: 'home-stands-in-for-itself',
    breaks: ['thrift'],
    file: plan,
    find: 'if (ownerOf(this.#ring, this.#placement) === nodeId) return false;',
    replace: '',
    why: 'While any node is suspected, all others store what they fetch as if they owned it.',
  },
  {
    name: 'suspect-replaced-by-any-node',
    breaks: ['thrift'],
    file: plan,
    find: 'const count = candidates(ring, this.#placement, maxCandidates, this.#ranked);',
    replace: 'const count = candidates(ring, { hi: 1, lo: 1 }, maxCandidates, this.#ranked);',
    why: 'Reads of what a suspect owns all go to one other node instead of each to its next candidate.',
  },
  {
    name: 'rest-begins-although-nobody-asked',
    breaks: ['thrift'],
    file: handovers,
    find: 'return until === undefined || until <= now;',
    replace: `if (until !== undefined && until <= now) this.#leaveAlone(now, nodeId);
    return until === undefined || until <= now;`,
    why: 'With little memory a previous owner that was silent once is never asked again.',
  },
  {
    name: 'rest-never-ends',
    breaks: ['thrift'],
    file: handovers,
    find: 'return until === undefined || until <= now;',
    replace: 'return until === undefined;',
    why: 'A previous owner that was silent once is never asked again.',
  },
  {
    name: 'demand-met-by-a-previous-home',
    breaks: [4],
    file: 'packages/core/src/node/home.ts',
    find: "reader.failedEtag !== '' || reader.confirmedWithinMs !== Infinity) {",
    replace: "reader.failedEtag !== '') {",
    why: 'A read after a write waits for a node that can’t know of the write.',
  },
];

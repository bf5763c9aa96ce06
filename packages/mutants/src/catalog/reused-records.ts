/** Records of pools that keep something of what they were used for before. */
import type { PlantedBug } from '../planted-bug.ts';

const reader = 'packages/core/src/node/reader.ts';
const clientRead = 'packages/core/src/gateway/client-read.ts';

export const reusedRecordBugs: readonly PlantedBug[] = [
  {
    name: 'skips-peers-for-ever',
    breaks: ['thrift'],
    file: reader,
    find: '    this.skipsPeers = false;\n',
    replace: '',
    why: 'A reader that a previous owner was of no use to goes past all others in its later lives.',
  },
  {
    name: 'streams-for-ever',
    breaks: ['thrift'],
    file: reader,
    find: '    this.mustStream = false;\n',
    replace: '',
    why: 'A reader that found no room once has a request to S3 of its own in all its later lives.',
  },
  {
    name: 'stands-in-for-ever',
    breaks: ['thrift'],
    file: 'packages/core/src/node/fetch.ts',
    find: '    fetch.standsIn = false;\n',
    replace: '',
    why: 'What a fetch brings is stored for another node because what it brought before was.',
  },
  {
    name: 'restarts-of-the-read-before',
    breaks: ['thrift'],
    file: clientRead,
    find: '    this.restarts = 0;\n',
    replace: '',
    why: 'After a few objects that changed every read of one goes past the cache.',
  },
  {
    name: 'gone-version-of-the-read-before',
    breaks: ['thrift'],
    file: clientRead,
    find: "    this.failedEtag = '';\n",
    replace: '',
    why: 'A read names a version of another object as gone, and S3 is asked what a previous home knows.',
  },
];

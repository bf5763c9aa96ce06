// A bucket that points at another origin from a SIGHUP of its node on: nothing that was known of the old one's objects is told any more,
// not even that which gateways answer from memory.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Running } from '../testing/programs.ts';
import { credentials } from '../testing/programs.ts';
import { arrangements, startRig, until } from '../testing/rig.ts';

const loops = 2;
/** So many that each loop gets some: the client opens one for each request. */
const requests = 16;

async function reload(process: Running, more: string): Promise<void> {
  process.rewrite(`${process.config}${more}`);
  process.child.kill('SIGHUP');
  await until('a reload', () => process.log().includes('"msg":"reloaded"'));
}

for (const { name, processes } of arrangements) {
  suite(`a bucket is pointed elsewhere, with ${name}`, () => {
    test('heads, empty objects and bytes are the new origin’s', async () => {
      const cache = '[cache.default_policy]\nimmutable = true\n';
      const buckets = ['bucket', 'elsewhere'];
      const rig = await startRig({ processes, loops, cache, buckets });
      try {
        const { client, cluster, s3 } = rig;
        s3.put('bucket', 'key', Buffer.from('old'));
        s3.put('bucket', 'empty', Buffer.alloc(0));
        s3.put('elsewhere', 'key', Buffer.from('quite new'));
        s3.put('elsewhere', 'empty', Buffer.from('no longer'));
        const told = async (): Promise<Set<string>> => {
          const answers = new Set<string>();
          for (let nth = 0; nth < requests; nth++) {
            const head = await client.head('bucket', 'key');
            const bytes = await client.get('bucket', 'key');
            const empty = await client.get('bucket', 'empty');
            const length = head.headers.find(([field]) => field === 'content-length')?.[1];
            answers.add(`${length} ${bytes.body.toString()} ${empty.body.toString()}`);
          }
          return answers;
        };
        assert.deepEqual(await told(), new Set(['3 old ']));

        await reload(
          cluster.node,
          `
[origins.bucket]
endpoint = "http://127.0.0.1:${s3.port}"
region = "us-east-1"
bucket = "elsewhere"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
`,
        );
        // The node tells gateways, over links where they are in another process.
        await until('it is told', async () => {
          const answers = await told();
          return answers.size === 1 && answers.has('9 quite new no longer');
        });
      } finally {
        await rig.stop();
      }
    });
  });
}

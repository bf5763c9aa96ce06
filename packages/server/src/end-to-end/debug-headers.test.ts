// Answers that say how the cache took part in them: to those who ask, or to all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRig, until, type Rig } from '../testing/rig.ts';
import { getOf, type Call } from '../testing/s3-client.ts';
import { pathOf } from '../testing/sign.ts';
import { version } from '../testing/versions.ts';

const asks = [['x-accel-debug', '1']] as const;
const cache = '[cache.default_policy]\nimmutable = true\nadmit_on_first_read = true';
const bytes = version('object', 100_000);

async function stateOf(rig: Rig, call: Call, headers: Call['headers'] = asks): Promise<string> {
  const answer = await rig.client.call({ ...call, headers: [...(call.headers ?? []), ...headers] });
  assert.ok(answer.status < 300, answer.body.toString());
  return answer.header('x-accel-cache');
}

test('a hit, a miss and what goes by the cache say so to those who ask', async () => {
  const rig = await startRig({ processes: 1, cache });
  try {
    rig.s3.put('bucket', 'key', bytes);
    rig.s3.put('bucket', 'other', bytes);
    const get = getOf('bucket', 'key');
    const head: Call = { method: 'HEAD', target: pathOf('bucket', 'other') };
    assert.equal(await stateOf(rig, get), 'stored');
    while ((await stateOf(rig, get)) !== 'hit') await new Promise(setImmediate);
    assert.equal(await stateOf(rig, getOf('bucket', 'key', 'bytes=5-9')), 'hit');
    const ofSdks = [
      ['x-amz-api-version', '2006-03-01'],
      ['x-amz-te', 'append-md5'],
      ['x-amz-checksum-crc32', 'AAAAAA=='],
    ] as const;
    for (const header of ofSdks)
      assert.equal(await stateOf(rig, get, [...asks, header]), 'hit', `with ${header[0]}`);
    assert.equal(await stateOf(rig, head), 'miss');
    assert.equal(await stateOf(rig, head), 'hit');
    assert.equal(await stateOf(rig, { method: 'GET', target: '/bucket?list-type=2' }), 'bypass');
    const overriding = `${pathOf('bucket', 'key')}?response-content-type=a%2Fb`;
    assert.equal(await stateOf(rig, { method: 'GET', target: overriding }), 'hit');
    const version = `${pathOf('bucket', 'key')}?versionId=null`;
    assert.equal(await stateOf(rig, { method: 'GET', target: version }), 'bypass');
    assert.equal(await stateOf(rig, get, []), '');
    assert.equal(await stateOf(rig, get, [['x-accel-debug', '0']]), '');
    for (const { headers } of rig.s3.traffic.log) assert.ok(!headers.has('x-accel-debug'));
  } finally {
    await rig.stop();
  }
});

test('a first read that isn’t kept is a miss, the second is stored, the third a hit', async () => {
  for (const processes of [1, 2] as const) {
    const rig = await startRig({ processes });
    try {
      rig.s3.put('bucket', 'key', bytes);
      const get = getOf('bucket', 'key');
      assert.equal(await stateOf(rig, get), 'miss');
      assert.equal(await stateOf(rig, get), 'stored');
      await until('the block to be published', async () => (await stateOf(rig, get)) === 'hit');
    } finally {
      await rig.stop();
    }
  }
});

test('an object that changed under a read says that the read began anew', async () => {
  const rig = await startRig({ processes: 1, cache });
  try {
    rig.s3.put('bucket', 'key', version('one', 3 << 20));
    assert.equal(await stateOf(rig, getOf('bucket', 'key', 'bytes=0-9')), 'stored');
    rig.s3.put('bucket', 'key', version('two', 3 << 20));
    // A block that isn't stored: it is asked for by the ETag that is gone.
    const later = getOf('bucket', 'key', `bytes=${2 << 20}-${(2 << 20) + 9}`);
    assert.equal(await stateOf(rig, later), 'stale-restart');
  } finally {
    await rig.stop();
  }
});

test('with gateway.debug_headers every answer says so, how old it is and which node sent it', async () => {
  const rig = await startRig({ processes: 2, cache, gateway: 'debug_headers = true' });
  try {
    rig.s3.put('bucket', 'key', bytes);
    const first = await rig.client.get('bucket', 'key');
    assert.equal(first.header('x-accel-cache'), 'stored');
    assert.equal(first.header('x-accel-node'), '0');
    assert.match(first.header('x-accel-age'), /^\d+\.\d{3}$/);
    await sleep(1100);
    const later = await rig.client.call({ method: 'HEAD', target: '/bucket/key' });
    assert.equal(later.header('x-accel-cache'), 'hit');
    assert.equal(later.header('x-accel-node'), '', 'the gateway knew enough');
    const age = Number(later.header('x-accel-age'));
    assert.ok(age >= 1.1 && age < 20, `${age} s`);
    assert.equal(await stateOf(rig, { method: 'GET', target: '/' }, []), 'bypass');
  } finally {
    await rig.stop();
  }
});

// Scopes come, are forgotten and give way, and each keeps a slot of the digester to itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ClientTable } from './clients.ts';
import { SigningKeys } from './signing-keys.ts';

const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
const table = new ClientTable(
  ids.map((accessKeyId) => ({ accessKeyId, secretAccessKey: `secret-${accessKeyId}`, grants: [] })),
);
const credentialOf = (id: string): string => `${id}/20261130/us-east-1/s3/aws4_request`;

test('whatever is forgotten and derived, no two scopes share a slot and all fit', () => {
  const step = fc.record({ id: fc.constantFrom(...ids), forgets: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const slots = new Map<number, string>();
      const digester = {
        scratch: new Uint8Array(0),
        setKey: (slot: number, key: Uint8Array) =>
          slots.set(slot, Buffer.from(key).toString('hex')),
        verifySigV4: () => false,
      };
      const keys = new SigningKeys(digester, table, 'us-east-1', 4);
      for (const { id, forgets } of steps) {
        if (forgets) {
          keys.forget({ accessKeyId: id, day: '20261130', region: 'us-east-1' });
          continue;
        }
        const found = keys.find(credentialOf(id));
        assert.ok(found.ok);
        const { slot, key } = found.scope;
        assert.ok(slot >= 0 && slot < 4);
        assert.equal(slots.get(slot), Buffer.from(key).toString('hex'));
        // A scope that was known before still has its slot to itself: the digester holds this very key there.
        assert.equal(keys.find(credentialOf(id)), found);
      }
    }),
  );
});

test('an unknown key is told with what it claims to be', () => {
  const digester = {
    scratch: new Uint8Array(0),
    setKey: () => undefined,
    verifySigV4: () => false,
  };
  const keys = new SigningKeys(digester, table, 'us-east-1', 4);
  assert.deepEqual(keys.find(credentialOf('nobody')), {
    ok: false,
    reason: 'unknownKey',
    claimed: { accessKeyId: 'nobody', day: '20261130', region: 'us-east-1' },
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantSet } from '../auth/grants.ts';
import { exchangeId } from '../http/exchange.ts';
import { RequestHead } from '../http/request-head.ts';
import { newHeadProgress, RequestParser } from '../http/request-parser.ts';
import { SavedHeads } from './saved-heads.ts';

/** A head as it lies in the memory that it was received into, behind what came before it. */
function headOf(target: string): RequestHead {
  const before = 'left over';
  const bytes = Buffer.from(`${before}GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`, 'latin1');
  const parser = new RequestParser(new RequestHead());
  const parsed = parser.parse(bytes, bytes, before.length, bytes.length, newHeadProgress());
  assert.equal(parsed, 'complete');
  return parser.head;
}

test('a head outlives the memory that it came in', () => {
  const heads = new SavedHeads();
  const grants = new GrantSet([]);
  const head = headOf('/bucket/a-long-key');
  heads.save(exchangeId(3, 1), head, grants);
  head.bytes.fill(0);
  const saved = heads.load(exchangeId(3, 1));
  assert.equal(saved?.head.target(), '/bucket/a-long-key');
  assert.equal(saved.grants, grants);
});

test('a connection’s next request never gets the head and the grants of the one before', () => {
  const heads = new SavedHeads();
  heads.save(exchangeId(3, 1), headOf('/bucket/key'), new GrantSet([]));
  assert.equal(heads.load(exchangeId(3, 2)), null);
  assert.equal(heads.load(exchangeId(4, 1)), null);
  heads.save(exchangeId(3, 2), headOf('/b/k'), new GrantSet([]));
  assert.equal(heads.load(exchangeId(3, 2))?.head.target(), '/b/k', 'shorter than the one before');
  assert.equal(heads.load(exchangeId(3, 1)), null);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MovedFill, PeerAsk } from '../history/peer-ask.ts';
import { checkMovedFill } from './handovers.ts';
import { HandMade, rules } from './testing/hand-made.ts';

const block = { node: 1, life: 2, bucket: 'b', key: 'k', etag: '"x"', first: 32 };
const fill: MovedFill = { ...block, sentAt: 5000, learnedAt: 100, holders: [0] };

function check(asks: readonly Partial<PeerAsk>[], change: Partial<MovedFill> = {}): string | null {
  const { history } = new HandMade();
  const ask: PeerAsk = {
    ...{ ...block, peer: 0, askedAt: 4000, answeredAt: Infinity },
    ...{ end: 'absent', endedAt: 4010 },
  };
  for (const other of asks) {
    const record = { ...ask, ...other };
    const spoke = record.end === 'served' || record.end === 'absent';
    history.peerAsked(spoke ? { ...record, answeredAt: record.endedAt, ...other } : record);
  }
  return checkMovedFill(history, rules, { ...fill, ...change });
}

describe('what a previous owner holds', () => {
  void test('is read from S3 once that owner was asked, whatever it said', () => {
    for (const end of ['absent', 'failed', 'givenUp', 'served'] as const) {
      assert.equal(check([{ end }]), null);
    }
  });

  void test('isn’t read from S3 before', () => {
    assert.match(check([]) ?? '', /never asked node 0/);
  });

  void test('was asked for by that very life, of that very owner, block and version', () => {
    for (const other of [{ life: 1 }, { node: 2 }, { peer: 2 }, { first: 0 }, { etag: '"y"' }]) {
      assert.match(check([other]) ?? '', /never asked node 0/, JSON.stringify(other));
    }
  });

  void test('is asked for at each of two that hold it', () => {
    assert.match(check([{}], { holders: [0, 3] }) ?? '', /never asked node 3/);
    assert.equal(check([{}, { peer: 3 }], { holders: [0, 3] }), null);
  });

  void test('may be read from S3 while the owner is left alone for its silence', () => {
    const silent = { first: -1, etag: '', key: 'other' };
    for (const end of ['failed', 'givenUp'] as const) {
      assert.equal(check([{ ...silent, end }]), null);
      const earlier = { ...silent, end, endedAt: 5000 - 2 * rules.peerRestMs - 10 };
      assert.match(check([earlier]) ?? '', /never asked/);
    }
    assert.match(check([{ ...silent, end: 'absent' }]) ?? '', /never asked/);
    const since = { ...silent, end: 'served', askedAt: 4500, endedAt: 4600 } as const;
    assert.match(check([{ ...silent, end: 'givenUp' }, since]) ?? '', /never asked/, 'it spoke');
    assert.match(check([{ ...silent, end: 'givenUp', life: 1 }]) ?? '', /never asked/);
  });

  void test('may be read from S3 while another read tries an owner that was silent', () => {
    const other = { first: -1, etag: '', key: 'other' };
    const silent = { ...other, end: 'failed', askedAt: 90, endedAt: 100 } as const;
    const tries = { ...other, end: 'served', askedAt: 4990, endedAt: 5010 } as const;
    assert.equal(check([silent, tries]), null);
    assert.match(check([silent, { ...tries, endedAt: 4999 }]) ?? '', /never asked/);
    assert.match(check([tries]) ?? '', /never asked/, 'nobody was silent');
  });

  void test('may be read from S3 if the owner was left alone when another one was asked', () => {
    const other = { first: -1, etag: '', key: 'other' };
    const silent = { ...other, end: 'failed', askedAt: 4800, endedAt: 4900 } as const;
    const spoke = {
      ...other,
      end: 'served',
      askedAt: 4850,
      answeredAt: 4960,
      endedAt: 4970,
    } as const;
    const asked = { peer: 3, askedAt: 4950, endedAt: 4980 };
    assert.equal(check([silent, spoke, asked], { holders: [0] }), null);
    const later = { ...asked, askedAt: 4965 };
    assert.match(check([silent, spoke, later], { holders: [0] }) ?? '', /never asked node 0/);
  });

  void test('may be read from S3 after an owner fell silent whose earlier answer is still coming', () => {
    const other = { first: -1, etag: '', key: 'other' };
    const coming = {
      ...other,
      end: 'served',
      askedAt: 4900,
      answeredAt: 4910,
      endedAt: 4999,
    } as const;
    const silent = { ...other, end: 'givenUp', askedAt: 4905, endedAt: 4990 } as const;
    assert.equal(check([coming, silent]), null);
    assert.match(check([{ ...coming, answeredAt: 4995 }, silent]) ?? '', /never asked/);
    const broke = {
      ...other,
      end: 'failed',
      askedAt: 4900,
      answeredAt: 4910,
      endedAt: 4999,
    } as const;
    assert.match(check([broke]) ?? '', /never asked/, 'it spoke');
  });

  void test('may be read from S3 by a read that set out before its node knew of that owner', () => {
    const asked = { peer: 2, askedAt: 4000, endedAt: 4010 };
    assert.equal(check([asked], { learnedAt: 4005 }), null);
    assert.match(check([asked], { learnedAt: 3999 }) ?? '', /never asked node 0/);
    assert.match(check([asked], { learnedAt: 4011 }) ?? '', /never asked node 0/);
  });
});

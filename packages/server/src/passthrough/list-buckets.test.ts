import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterBuckets } from './list-buckets.ts';

const answer =
  '<?xml version="1.0" encoding="UTF-8"?>\n<ListAllMyBucketsResult xmlns="x"><Owner><ID>1</ID></Owner>' +
  '<Buckets><Bucket><Name>one</Name><CreationDate>d</CreationDate></Bucket>' +
  '<Bucket><CreationDate>d</CreationDate><Name>two</Name></Bucket></Buckets>' +
  '<ContinuationToken>t&amp;</ContinuationToken></ListAllMyBucketsResult>';

test('shows granted buckets only, with their fields', () => {
  const text = filterBuckets(Buffer.from(answer), (bucket) => bucket === 'two')!.toString();
  assert.match(
    text,
    /<Buckets><Bucket><CreationDate>d<\/CreationDate><Name>two<\/Name><\/Bucket><\/Buckets>/,
  );
  assert.doesNotMatch(text, /one/);
  assert.match(text, /<Owner><ID>1<\/ID><\/Owner>/);
  assert.match(text, /<ContinuationToken>t&#38;<\/ContinuationToken>/);
});

test('leaves an empty list when nothing is granted', () => {
  const text = filterBuckets(Buffer.from(answer), () => false)!.toString();
  assert.match(text, /<Buckets><\/Buckets>/);
});

test('lets nothing through that it does not understand', () => {
  assert.equal(
    filterBuckets(Buffer.from('<Other/>'), () => true),
    null,
  );
  assert.equal(
    filterBuckets(Buffer.from('no xml'), () => true),
    null,
  );
  const odd = answer.replaceAll('<Bucket>', '<b:Bucket>').replaceAll('</Bucket>', '</b:Bucket>');
  assert.doesNotMatch(filterBuckets(Buffer.from(odd), () => true)!.toString(), /one|two/);
});

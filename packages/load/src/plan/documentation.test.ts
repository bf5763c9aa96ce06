import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withPlanKeys } from './documentation.ts';

const page = join(import.meta.dirname, '../../../../docs/load-generator.md');

test('docs/load-generator.md lists the keys as the table has them', () => {
  const text = readFileSync(page, 'utf8');
  assert.equal(text, withPlanKeys(text), 'load-generator.md has fallen behind: npm run docs');
});

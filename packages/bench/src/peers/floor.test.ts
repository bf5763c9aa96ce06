import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startFloor } from './floor.ts';

for (const answerBytes of [4096, 300_000]) {
  test(`the floor answers with ${answerBytes} bytes of its file, again and again on one connection`, async () => {
    const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-floor-'));
    const floor = await startFloor({ directory, answerBytes, fileBytes: 3_000_000, launch: [] });
    try {
      for (let request = 0; request < 5; request++) {
        const answer = await fetch(`http://127.0.0.1:${floor.port}/any/${request}`);
        const body = Buffer.from(await answer.arrayBuffer());
        assert.equal(answer.status, 200);
        assert.equal(body.length, answerBytes);
        // The file repeats these five letters.
        assert.ok('floorfloor'.includes(body.toString('latin1', 0, 5)));
        assert.ok(body.subarray(5).equals(body.subarray(0, -5)));
      }
    } finally {
      await floor.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });
}

// Writes what is generated from tables in the code: docs/configuration.md, config/example.toml, docs/metrics.md, the
// promises in docs/simulator.md and the keys in docs/load-generator.md. `npm run docs`. A test fails when one of them has
// fallen behind.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withPlanKeys } from '@s3-accelerator/load/plan/documentation.ts';
import { catalog } from '@s3-accelerator/mutants/catalog/catalog.ts';
import { withPromises } from '@s3-accelerator/mutants/promises.ts';
import { configurationPage, exampleFile } from 's3-accelerator/config/documentation.ts';
import { metricsPage } from 's3-accelerator/metrics/documentation.ts';

const root = join(import.meta.dirname, '..');

function write(file: string, text: string): void {
  const path = join(root, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  console.log(`${file} written`);
}

write('docs/configuration.md', configurationPage());
write('config/example.toml', exampleFile());
write('docs/metrics.md', await metricsPage());
write(
  'docs/simulator.md',
  withPromises(readFileSync(join(root, 'docs/simulator.md'), 'utf8'), catalog),
);
write(
  'docs/load-generator.md',
  withPlanKeys(readFileSync(join(root, 'docs/load-generator.md'), 'utf8')),
);

/** The version of the program, from its package. */
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as Readonly<{ version: string }>;

export const version = manifest.version;

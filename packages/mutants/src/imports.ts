/** Which files import which, so that only tests that run a file's code are run for a bug in it. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const specifiers =
  /(?:from|import) '(?<path>\.[^']+|@s3-accelerator\/[^']+|s3-accelerator\/[^']+)'/g;

export class Imports {
  /** Files by those that they import, both from the root of the repository. */
  readonly #importers = new Map<string, string[]>();

  constructor(root: string) {
    for (const file of globSync('packages/*/{src,ts}/**/*.ts', { cwd: root })) {
      const text = readFileSync(join(root, file), 'utf8');
      for (const match of text.matchAll(specifiers)) {
        const imported = resolve(file, match.groups!['path']!);
        const known = this.#importers.get(imported);
        if (known === undefined) this.#importers.set(imported, [file]);
        else known.push(file);
      }
    }
  }

  /** The file and all that import it, directly or not. */
  reaching(file: string): ReadonlySet<string> {
    const reached = new Set([file]);
    for (const each of reached) {
      for (const importer of this.#importers.get(each) ?? []) reached.add(importer);
    }
    return reached;
  }
}

function resolve(file: string, path: string): string {
  if (path.startsWith('.')) return join(dirname(file), path);
  const [, name, rest] = /^(?:@s3-accelerator\/)?([^/]+)\/(.+)$/.exec(path)!;
  if (name === 's3-accelerator') return `packages/server/src/${rest!}`;
  return `packages/${name!}/${name === 'native' ? 'ts' : 'src'}/${rest!}`;
}

/**
 * A copy of the repository to plant bugs into: the checkout itself is never touched.
 *
 * The sources are copied. What is large and the same for all (dependencies, the built addon) is linked, except for our own
 * packages in node_modules: those lead into the copy, or the tests would run the checkout's code.
 */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Not needed by any test, or linked. */
const left = new Set(['node_modules', '.git', 'data', 'build', 'build-asan']);
const ownScope = '@s3-accelerator';
const ownProgram = 's3-accelerator';

/** The preload that makes property tests draw the same values in every run. */
const fixedChance = 'fixed-chance.mjs';

export class ScratchTree {
  readonly root: string;

  /** Copies the checkout at `source`. What can't be copied to its end isn't left behind. */
  constructor(source: string) {
    this.root = mkdtempSync(join(tmpdir(), 's3-accelerator-planted-'));
    try {
      this.#copy(source);
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** What Node imports before a test file. */
  get preload(): string {
    return join(this.root, fixedChance);
  }

  read(file: string): string {
    return readFileSync(join(this.root, file), 'utf8');
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.root, file), text);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  #copy(source: string): void {
    cpSync(source, this.root, {
      recursive: true,
      filter: (path) => !left.has(path.slice(path.lastIndexOf('/') + 1)),
    });
    symlinkSync(
      join(source, 'packages/native/build'),
      join(this.root, 'packages/native/build'),
      'dir',
    );
    this.#linkDependencies(join(source, 'node_modules'));
    writeFileSync(
      join(this.root, fixedChance),
      "import fc from 'fast-check';\nfc.configureGlobal({ seed: 1 });\n",
    );
  }

  #linkDependencies(modules: string): void {
    const target = join(this.root, 'node_modules');
    mkdirSync(join(target, ownScope), { recursive: true });
    for (const name of readdirSync(modules)) {
      if (name === ownScope || name === ownProgram) continue;
      symlinkSync(join(modules, name), join(target, name));
    }
    for (const name of readdirSync(join(modules, ownScope))) {
      symlinkSync(join('../../packages', name), join(target, ownScope, name));
    }
    symlinkSync('../packages/server', join(target, ownProgram));
  }
}

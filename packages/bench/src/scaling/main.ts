/** `npm run scaling`: prints what fleets of 10, 100 and 1,000 nodes cost by the model; --write brings docs/scaling.md up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as prettier from 'prettier';
import { scalingTable, withModel } from './page.ts';

const pageFile = join(import.meta.dirname, '../../../../docs/scaling.md');
const usage = `Usage: npm run scaling -- [--write]

Prints what fleets of 10, 100 and 1,000 nodes cost, worked out from measured costs. --write puts it into docs/scaling.md.
`;

function options(): { readonly isWritten: boolean; readonly isHelp: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return { isWritten: values.write, isHelp: values.help };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

const { isWritten, isHelp } = options();
if (isHelp) {
  process.stdout.write(usage);
} else if (isWritten) {
  const config = await prettier.resolveConfig(pageFile);
  const page = withModel(readFileSync(pageFile, 'utf8'));
  writeFileSync(pageFile, await prettier.format(page, { ...config, parser: 'markdown' }));
} else {
  process.stdout.write(await prettier.format(scalingTable(), { parser: 'markdown' }));
}

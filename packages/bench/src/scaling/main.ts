/** `npm run scaling`: prints what fleets of 10, 100 and 1,000 nodes cost by the model; --write brings docs/scaling.md up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as prettier from 'prettier';
import { argumentError } from 's3-accelerator/config/argument-error.ts';
import { ArgumentError, optionsOrExit } from '../arguments.ts';
import { scalingTable, withModel } from './page.ts';

const pageFile = join(import.meta.dirname, '../../../../docs/scaling.md');
const usage = `Usage: npm run scaling -- [--write]

Prints what fleets of 10, 100 and 1,000 nodes cost, worked out from measured costs. --write puts it into docs/scaling.md.
`;

/** null when help is wanted. Throws ArgumentError. */
function optionsFrom(args: readonly string[]): { readonly isWritten: boolean } | null {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return values.help ? null : { isWritten: values.write };
  } catch (error) {
    throw new ArgumentError(argumentError(error));
  }
}

const { isWritten } = optionsOrExit(optionsFrom, usage);
if (isWritten) {
  const config = await prettier.resolveConfig(pageFile);
  const page = withModel(readFileSync(pageFile, 'utf8'));
  writeFileSync(pageFile, await prettier.format(page, { ...config, parser: 'markdown' }));
} else {
  process.stdout.write(await prettier.format(scalingTable(), { parser: 'markdown' }));
}

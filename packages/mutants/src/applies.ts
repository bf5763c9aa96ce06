/** Whether the catalog as a whole holds: every bug still applies, and every rule has one. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rules, type PlantedBug } from './planted-bug.ts';
import { plant } from './planting.ts';

/** What is wrong with the catalog, one line each. */
export function catalogProblems(bugs: readonly PlantedBug[], root: string): string[] {
  const problems: string[] = [];
  const names = new Set<string>();
  for (const bug of bugs) {
    if (names.has(bug.name)) problems.push(`${bug.name}: the name is taken twice`);
    names.add(bug.name);
    const problem = problemOf(bug, root);
    if (problem !== null) problems.push(`${bug.name}: ${problem}`);
  }
  for (const [rule, text] of rules) {
    if (!bugs.some(({ breaks }) => breaks.includes(rule))) {
      problems.push(`no planted bug breaks ${rule}: ${text}`);
    }
  }
  return problems;
}

function problemOf(bug: PlantedBug, root: string): string | null {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(bug.name)) return 'its name is not in kebab-case';
  if (bug.breaks.length === 0) return 'it breaks no rule';
  for (const test of bug.server ?? []) {
    const file = `packages/server/src/end-to-end/${test}.test.ts`;
    if (!existsSync(join(root, file))) return `${file} is not there`;
  }
  const path = join(root, bug.file);
  if (!existsSync(path)) return `${bug.file} is not there`;
  const planting = plant(bug, readFileSync(path, 'utf8'));
  return planting.ok ? null : planting.problem;
}

/** What a run prints: a line for each bug as its fate is known, a table at the end, and the catalog as Markdown. */
import Table from 'cli-table3';
import { isCaught, type Outcome } from './hunt.ts';
import { layerNames } from './layers.ts';
import { rules, type PlantedBug } from './planted-bug.ts';

/** Bugs that no layer below the simulator notices: it has to prove its worth. */
export const leastSimulated = 20;

const widest = 70;

export function progressLine(outcome: Outcome, done: number, of: number): string {
  const mark = isCaught(outcome) ? 'caught' : 'MISSED';
  return `[${done}/${of}] ${mark} ${outcome.bug.name}: ${fateOf(outcome)} (${seconds(outcome)})`;
}

export function resultTable(outcomes: readonly Outcome[]): string {
  const table = new Table({
    head: ['planted bug', 'breaks', 'caught by', 'seconds'],
    style: { head: [], border: [] },
  });
  for (const outcome of outcomes) {
    const { bug } = outcome;
    table.push([bug.name, bug.breaks.join(', '), fateOf(outcome), seconds(outcome)]);
  }
  return table.toString();
}

/** How many each layer caught, and how many the simulator alone. */
export function layerCounts(outcomes: readonly Outcome[]): string {
  return layerNames.map((name) => `${name} ${caughtBy(outcomes, name)}`).join(', ');
}

export function simulatedCount(outcomes: readonly Outcome[]): number {
  return caughtBy(outcomes, 'scenario') + caughtBy(outcomes, 'seeds');
}

/** The catalog by what is broken, for the documentation. */
export function catalogTable(bugs: readonly PlantedBug[]): string {
  const lines = ['| what is broken | planted bugs |', '| --- | --- |'];
  for (const [rule, text] of rules) {
    const names = bugs
      .filter(({ breaks }) => breaks.includes(rule))
      .map(({ name }) => `\`${name}\``);
    lines.push(`| ${rule}: ${text} | ${names.join(', ')} |`);
  }
  return lines.join('\n');
}

function caughtBy(outcomes: readonly Outcome[], layer: string): number {
  return outcomes.filter(
    (outcome) => isCaught(outcome) && 'layer' in outcome.fate && outcome.fate.layer === layer,
  ).length;
}

function fateOf({ bug, fate }: Outcome): string {
  switch (fate.kind) {
    case 'caught':
      return `${fate.layer}: ${fate.by}`.slice(0, widest);
    case 'hung':
      return `${fate.layer}: ran out of time${bug.hangs === true ? '' : ', which nothing asserts'}`;
    case 'missed':
      return 'NO LAYER';
    case 'unusable':
      return `UNUSABLE: ${fate.problem}`;
  }
}

function seconds(outcome: Outcome): string {
  return outcome.seconds.toFixed(1);
}

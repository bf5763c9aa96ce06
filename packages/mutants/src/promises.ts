/**
 * The part of docs/simulator.md that is generated: each promise with the checkers that hold it and the bugs that were planted
 * against it. `npm run docs` writes it, a test fails when the page has fallen behind.
 */
import type { CheckerName } from '@s3-accelerator/sim/checkers/checkers.ts';
import { rules, type PlantedBug, type Rule } from './planted-bug.ts';

export const promisesStart = '<!-- promises: written by npm run docs -->';
export const promisesEnd = '<!-- end of promises -->';

/** Which checkers of the simulator look at what a rule promises. */
const checkersOf: Readonly<Record<Rule, readonly CheckerName[]>> = {
  1: ['answers'],
  2: ['stored-blocks', 'answers'],
  3: ['fills'],
  4: ['read-your-writes'],
  5: ['coalescing', 'answers'],
  6: ['durability', 'stored-blocks'],
  7: ['authorisation'],
  8: ['answers', 'rings'],
  9: ['liveness', 'leaks', 'bounds'],
  10: ['answers'],
  thrift: ['admission', 'handovers', 'standing-in', 'leases'],
};

const columns = 140;

/** The page with its generated part written anew. Throws when the page has no place for it. */
export function withPromises(page: string, bugs: readonly PlantedBug[]): string {
  const start = page.indexOf(promisesStart);
  const end = page.indexOf(promisesEnd);
  if (start < 0 || end < start) throw new Error('the page has no place for the promises');
  const before = page.slice(0, start + promisesStart.length);
  return `${before}\n\n${promises(bugs)}\n\n${page.slice(end)}`;
}

/** A list of Markdown: the numbered rules, and thrift behind them. */
function promises(bugs: readonly PlantedBug[]): string {
  const numbered: string[] = [];
  const others: string[] = [];
  for (const [rule, text] of rules) {
    (rule === 'thrift' ? others : numbered).push(promise(rule, text, bugs));
  }
  return `${numbered.join('\n')}\n\n${others.join('\n')}`;
}

function promise(rule: Rule, text: string, bugs: readonly PlantedBug[]): string {
  const planted = bugs.filter(({ breaks }) => breaks.includes(rule)).map(({ name }) => name);
  const mark = rule === 'thrift' ? '- ' : `${rule}. `;
  const indent = ' '.repeat(mark.length);
  const words = `Checked by ${listed(checkersOf[rule])}. Planted: ${listed(planted)}.`;
  return [`${mark}**${text}**.`, ...wrapped(words, columns - indent.length)].join(`\n${indent}`);
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  lines.push(line);
  return lines;
}

/** Reads what `perf script` prints: samples apart by an empty line, each a head and its frames, the innermost first. */
import { basename } from 'node:path';
import { Stacks, type Frame } from './stacks.ts';

const frameLine = /^\s+[0-9a-f]+ (.*) \(([^()]*)\)$/;

export function stacksOfPerfScript(text: string): Stacks {
  const stacks = new Stacks();
  let frames: Frame[] = [];
  for (const line of text.split('\n')) {
    if (line === '') {
      stacks.add(frames.reverse(), 1);
      frames = [];
      continue;
    }
    const match = frameLine.exec(line);
    const frame = match === null ? null : frameOf(match[1]!, match[2]!);
    if (frame !== null) frames.push(frame);
  }
  stacks.add(frames.reverse(), 1);
  return stacks;
}

/** null for what perf couldn't name. */
function frameOf(symbol: string, object: string): Frame | null {
  const name = symbol.replace(/\+0x[0-9a-f]+$/, '');
  if (name === '[unknown]') return null;
  if (object.startsWith('[')) return { name, kind: 'kernel' };
  if (object.endsWith('.map')) return scriptFrame(name);
  if (object.endsWith('native.node')) return { name: withoutArguments(name), kind: 'addon' };
  return { name: withoutArguments(name), kind: 'node' };
}

const withoutArguments = (name: string): string => name.replace(/\(.*$/, '');

/** "JS:*onRead file:///…/node.ts:120:9" is V8's optimised code of onRead; the rest of the map is V8's own. */
function scriptFrame(name: string): Frame | null {
  const match = /^(?:JS|Function):[~^+*]?'?(\S*) ?(?:file:\/\/)?(\S*?)(?::\d+)?$/.exec(name);
  if (match === null) return { name: name.split(' ')[0] ?? name, kind: 'node' };
  const [, called = '', place = ''] = match;
  const file = basename(place);
  const where = file === '' ? '' : ` ${file}`;
  return {
    name: `${called === '' ? '(anonymous)' : called}${where}`,
    kind: place.startsWith('node:') ? 'node' : 'typescript',
  };
}

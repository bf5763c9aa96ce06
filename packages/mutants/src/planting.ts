/** Putting a planted bug into the text of its file. */
import type { PlantedBug } from './planted-bug.ts';

export type Planting =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

/** The file's text with the bug in it; a problem when the bug no longer applies to this text. */
export function plant(bug: PlantedBug, text: string): Planting {
  const at = text.indexOf(bug.find);
  if (at < 0) return { ok: false, problem: `${bug.file} no longer has the text to replace` };
  if (text.includes(bug.find, at + 1)) {
    return { ok: false, problem: `${bug.file} has the text to replace more than once` };
  }
  if (bug.find === bug.replace) return { ok: false, problem: 'it changes nothing' };
  return {
    ok: true,
    text: text.slice(0, at) + bug.replace + text.slice(at + bug.find.length),
  };
}

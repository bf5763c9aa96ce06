/**
 * Small XML documents of S3's protocol: read strictly, written anew.
 *
 * Keys are authorised by what this file reads out of a document, and the origin acts on what it reads. So documents are never
 * passed on as they came: whoever reads one writes it again, and there is one reading only. No document types, no entities
 * but XML's own five and character references, no attributes that matter, UTF-8.
 */
import { utf8ToBinary } from '@s3-accelerator/core/s3/percent-encoding.ts';
import { XMLParser, XMLValidator } from 'fast-xml-parser';

export interface XmlElement {
  readonly name: string;
  readonly children: readonly XmlElement[];
  /** Its own text with references resolved: a binary string of UTF-8 bytes. */
  readonly text: string;
}

/** What the parser gives with `preserveOrder`: one property, its name, holds the children. */
type RawNode = Readonly<Record<string, unknown>>;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: true,
  // Spaces at the ends of a key are part of it, and `00` is no number.
  trimValues: false,
  parseTagValue: false,
  // The parser's own way leaves references like &#x41; alone or knows HTML's too: see resolve().
  processEntities: false,
  cdataPropName: '#cdata',
});

/** Characters that no document of XML 1.0 has, unless as a reference. */
const notXml = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;

/** The root element, or null when the bytes are no well-formed document of the kind we read. */
export function parseXml(bytes: Uint8Array): XmlElement | null {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
  // The parser lets them pass. To another one they may end a text.
  if (notXml.test(text)) return null;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- its successor is a package of its own that does the same
  if (text.includes('<!DOCTYPE') || XMLValidator.validate(text) !== true) return null;
  let nodes: readonly RawNode[];
  try {
    nodes = parser.parse(text) as readonly RawNode[];
  } catch {
    return null;
  }
  const roots = nodes.filter((node) => !isProlog(node));
  return roots.length === 1 ? element(roots[0]!) : null;
}

function isProlog(node: RawNode): boolean {
  const name = Object.keys(node)[0] ?? '';
  return name.startsWith('?') || (name === '#text' && String(node[name]).trim() === '');
}

/** Of S3's elements. The parser also gives `#text`, `?xml` and what is no name at all. */
const elementName = /^[A-Za-z_][A-Za-z0-9_.:-]*$/;

function element(node: RawNode): XmlElement | null {
  const name = Object.keys(node)[0];
  if (name === undefined || !elementName.test(name)) return null;
  const children: XmlElement[] = [];
  let text = '';
  for (const child of node[name] as readonly RawNode[]) {
    if ('#text' in child) {
      const resolved = resolve(String(child['#text']));
      if (resolved === null) return null;
      text += resolved;
    } else if ('#cdata' in child) {
      const [inner] = child['#cdata'] as readonly { readonly '#text'?: string }[];
      text += inner?.['#text'] ?? '';
    } else {
      const parsed = element(child);
      if (parsed === null) return null;
      children.push(parsed);
    }
  }
  return { name, children, text: utf8ToBinary(text) };
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** Replaces references; null when one is none of XML's own. */
function resolve(text: string): string | null {
  if (!text.includes('&')) return text;
  const unknown: string[] = [];
  const resolved = text.replace(/&([^;&]{0,12};)?/g, (found) => {
    const character = resolveOne(found);
    if (character === null) unknown.push(found);
    return character ?? '';
  });
  return unknown.length === 0 ? resolved : null;
}

/** `found` is `&`, or `&name;`. */
function resolveOne(found: string): string | null {
  const reference = found.slice(1, -1);
  if (Object.hasOwn(named, reference)) return named[reference]!;
  const match = /^#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}))$/.exec(reference);
  if (match === null) return null;
  const point = match[1] === undefined ? Number(match[2]) : Number.parseInt(match[1], 16);
  const isSurrogate = point >= 0xd800 && point <= 0xdfff;
  if (point === 0 || point > 0x10ffff || isSurrogate) return null;
  return String.fromCodePoint(point);
}

/** Text for a document, from a binary string: markup and control characters become references. */
export function xmlText(binary: string): string {
  return binary.replace(/[\u0000-\u001f&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

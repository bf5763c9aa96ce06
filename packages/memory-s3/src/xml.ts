// S3's XML, both ways: answers are written by nesting `tag`, request bodies are read into plain trees.
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { S3Error } from './s3-error.ts';

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';
const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Text as XML content. Control characters become numeric references, as S3 writes them. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"\u0000-\u0008\u000b-\u001f\u007f]/g, (character) => {
    return escapes[character] ?? `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`;
  });
}

/** One element around escaped text. */
export function tag(name: string, text: string | number | boolean): string {
  return `<${name}>${escapeXml(String(text))}</${name}>`;
}

/** One element around ready XML. */
export function nest(name: string, ...children: readonly string[]): string {
  return `<${name}>${children.join('')}</${name}>`;
}

/** A whole document in S3's namespace. */
export function xmlDocument(root: string, ...children: readonly string[]): Buffer {
  return Buffer.from(
    `${declaration}<${root} xmlns="${namespace}">${children.join('')}</${root}>`,
    'utf8',
  );
}

/** Error documents carry no namespace. */
export function xmlErrorDocument(...children: readonly string[]): Buffer {
  return Buffer.from(`${declaration}<Error>${children.join('')}</Error>`, 'utf8');
}

/** An element: its text, or its children by name. */
export interface XmlElement {
  readonly text: string;
  readonly children: ReadonlyMap<string, readonly XmlElement[]>;
}

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: true,
  parseTagValue: false,
  trimValues: false,
  removeNSPrefix: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  // Decoded below: the parser leaves numeric references alone and limits how many it decodes.
  processEntities: false,
});

/** Parses a request body and checks its root. @throws S3Error MalformedXML. */
export function parseXml(body: Buffer, rootName: string): XmlElement {
  const source = body.toString('utf8');
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(source)) throw new S3Error('MalformedXML');
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- its successor is one more dependency
  if (source.includes('<!DOCTYPE') || XMLValidator.validate(source) !== true) {
    throw new S3Error('MalformedXML');
  }
  const document = elementFrom(parser.parse(source));
  const root = document.children.get(rootName)?.[0];
  if (root === undefined) throw new S3Error('MalformedXML');
  return root;
}

/** The text of an only child; null where there is none. */
export function childText(element: XmlElement, name: string): string | null {
  return element.children.get(name)?.[0]?.text ?? null;
}

// The parser's ordered form is a list of records: `#text` with a string, or a name with a list.
function elementFrom(nodes: unknown): XmlElement {
  const children = new Map<string, XmlElement[]>();
  let text = '';
  for (const node of Array.isArray(nodes) ? (nodes as unknown[]) : []) {
    if (typeof node !== 'object' || node === null) continue;
    for (const [name, value] of Object.entries(node as Record<string, unknown>)) {
      if (name === '#text') text += decodeReferences(String(value));
      else if (name !== ':@') {
        const list = children.get(name) ?? [];
        list.push(elementFrom(value));
        children.set(name, list);
      }
    }
  }
  return { text, children };
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

function decodeReferences(text: string): string {
  return text.replace(/&(#x[0-9a-fA-F]{1,6}|#[0-9]{1,7}|[a-z]+);/g, (reference, name: string) => {
    if (!name.startsWith('#')) {
      const character = named[name];
      if (character === undefined) throw new S3Error('MalformedXML');
      return character;
    }
    const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    if (code > 0x10ffff) throw new S3Error('MalformedXML', `${reference} is no character.`);
    return String.fromCodePoint(code);
  });
}

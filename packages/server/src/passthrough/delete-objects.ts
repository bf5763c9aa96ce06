/**
 * The body of DeleteObjects: which keys it names, and the same body written anew.
 *
 * Each key must be granted, so the origin may read no other key out of the body than we did: it gets our own spelling.
 */
import { maxKeyBytes } from '@s3-accelerator/core/s3/object-key.ts';
import { parseXml, xmlText } from './xml.ts';
import type { XmlElement } from './xml.ts';

export const maxDeleteBytes = 2 * 1024 * 1024;
const maxDeleteKeys = 1000;
/** A thousand keys with all that may be said about them take 12,000 tags: more is markup that keeps the event loop busy. */
const maxMarkup = 16_384;
const lessThan = 0x3c;

export interface DeleteList {
  /** Binary strings, in the body's order. */
  readonly keys: readonly string[];
  /** The body for the origin. */
  readonly body: Buffer;
}

/** What S3 lets an object to be deleted say besides its key. */
const conditions: ReadonlySet<string> = new Set(['VersionId', 'ETag', 'LastModifiedTime', 'Size']);

/** Null when the body isn't one that S3 takes: `MalformedXML`. */
export function parseDeleteObjects(bytes: Uint8Array): DeleteList | null {
  if (hasMoreMarkup(bytes, maxMarkup)) return null;
  const root = parseXml(bytes);
  if (root?.name !== 'Delete') return null;
  const keys: string[] = [];
  let objects = '';
  let quiet = '';
  for (const child of root.children) {
    if (child.name === 'Quiet') {
      quiet = `<Quiet>${xmlText(child.text.trim())}</Quiet>`;
      continue;
    }
    const key = child.name === 'Object' ? keyOf(child) : null;
    if (key === null) return null;
    keys.push(key);
    objects += `<Object>${child.children.map(written).join('')}</Object>`;
  }
  if (keys.length === 0 || keys.length > maxDeleteKeys) return null;
  const text =
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${objects}${quiet}</Delete>`;
  return { keys, body: Buffer.from(text, 'latin1') };
}

function hasMoreMarkup(bytes: Uint8Array, most: number): boolean {
  let count = 0;
  for (let at = bytes.indexOf(lessThan); at >= 0; at = bytes.indexOf(lessThan, at + 1)) {
    count += 1;
    if (count > most) return true;
  }
  return false;
}

/** The one key of an Object element; null when there is none, two, or something unknown beside it. */
function keyOf(object: XmlElement): string | null {
  let key: string | null = null;
  for (const { name, text, children } of object.children) {
    if (children.length > 0) return null;
    if (name === 'Key') {
      if (key !== null || text === '' || text.length > maxKeyBytes) return null;
      key = text;
    } else if (!conditions.has(name)) {
      return null;
    }
  }
  return key;
}

function written({ name, text }: XmlElement): string {
  return `<${name}>${xmlText(text)}</${name}>`;
}

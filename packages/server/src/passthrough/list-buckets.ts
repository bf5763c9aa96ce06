/**
 * The answer to ListBuckets, reduced to the buckets that a client holds a grant in.
 *
 * It is written anew from what is understood of it, so nothing else gets through by an unforeseen spelling.
 */
import { parseXml, xmlText } from './xml.ts';
import type { XmlElement } from './xml.ts';

/** Ten thousand buckets, S3's most for one answer, take about 2 MB. */
const maxListBucketsBytes = 8 * 1024 * 1024;

const bucketFields = ['Name', 'CreationDate', 'BucketRegion', 'BucketArn'];
const ownerFields = ['ID', 'DisplayName'];

/** The document with those buckets only that `shows` says yes to; null when it isn't ListBuckets' answer. */
export function filterBuckets(
  bytes: Uint8Array,
  shows: (bucket: string) => boolean,
): Buffer | null {
  const root = parseXml(bytes);
  if (root?.name !== 'ListAllMyBucketsResult') return null;
  let inner = '';
  for (const child of root.children) {
    if (child.name === 'Owner') inner += element('Owner', child.children, ownerFields);
    else if (child.name === 'Buckets') inner += buckets(child.children, shows);
    else if (child.name === 'ContinuationToken' || child.name === 'Prefix') inner += leaf(child);
  }
  const text =
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</ListAllMyBucketsResult>`;
  return Buffer.from(text, 'latin1');
}

function buckets(all: readonly XmlElement[], shows: (bucket: string) => boolean): string {
  let inner = '';
  for (const bucket of all) {
    const name = bucket.children.find((field) => field.name === 'Name')?.text;
    if (bucket.name !== 'Bucket' || name === undefined || !shows(name)) continue;
    inner += element('Bucket', bucket.children, bucketFields);
  }
  return `<Buckets>${inner}</Buckets>`;
}

function element(name: string, children: readonly XmlElement[], fields: readonly string[]): string {
  const kept = children.filter((child) => fields.includes(child.name));
  return `<${name}>${kept.map(leaf).join('')}</${name}>`;
}

function leaf({ name, text }: XmlElement): string {
  return `<${name}>${xmlText(text)}</${name}>`;
}

/** The answer while it comes. */
export class BucketList {
  readonly status: number;
  readonly headers: readonly string[];
  readonly #parts: Buffer[] = [];
  #length = 0;

  constructor(status: number, headers: readonly string[]) {
    this.status = status;
    this.headers = headers;
  }

  /** False when it is longer than any such answer. */
  push(bytes: Uint8Array): boolean {
    this.#parts.push(Buffer.from(bytes));
    this.#length += bytes.length;
    return this.#length <= maxListBucketsBytes;
  }

  /** The whole answer for a client that may see these buckets; null when it can't be read. */
  filtered(shows: (bucket: string) => boolean): Buffer | null {
    return filterBuckets(Buffer.concat(this.#parts), shows);
  }
}

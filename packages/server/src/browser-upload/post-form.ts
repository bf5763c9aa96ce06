/**
 * What the fields of a browser's upload ask for: the headers of the PUT that is made of them, and the answer that the browser
 * gets once it succeeded.
 */
import { pathOf } from '@s3-accelerator/core/s3/object-key.ts';
import { percentEncode } from '@s3-accelerator/core/s3/percent-encoding.ts';
import { headerValue, withoutHeaders } from '../http/raw-headers.ts';
import { parseXml, xmlText } from '../passthrough/xml.ts';

/** By lower-case name; binary strings. */
export type FormFields = ReadonlyMap<string, string>;

/** Puts the file's own name, without the folders that some browsers send, where a value asks for it. */
export function withFileName(fields: FormFields, fileName: string): FormFields {
  const name = fileName.slice(Math.max(fileName.lastIndexOf('/'), fileName.lastIndexOf('\\')) + 1);
  const isSigned = (field: string): boolean => field === 'policy' || field === 'x-amz-signature';
  return new Map(
    [...fields].map(([field, value]) => [
      field,
      isSigned(field) ? value : value.replaceAll('${filename}', () => name),
    ]),
  );
}

/** Fields that are headers under the same name. */
const sameName: ReadonlySet<string> = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-md5',
  'content-type',
  'expires',
  'x-amz-acl',
  'x-amz-expected-bucket-owner',
  'x-amz-storage-class',
  'x-amz-tagging',
  'x-amz-website-redirect-location',
]);
const samePrefix = [
  'x-amz-checksum-',
  'x-amz-grant-',
  'x-amz-meta-',
  'x-amz-object-lock-',
  'x-amz-sdk-checksum-algorithm',
  'x-amz-server-side-encryption',
];
/** Fields that say who signed the form. */
const ofTheSignature: ReadonlySet<string> = new Set([
  'x-amz-algorithm',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-signature',
]);

/**
 * The headers of the PUT, name, value, …; null when a field can't be one. A field of S3's own that isn't known here could change
 * the operation, as a copy's source does, and is refused.
 */
export function headersOfForm(fields: FormFields): string[] | null {
  const headers: string[] = [];
  for (const [name, value] of fields) {
    if (name === 'acl') {
      headers.push('x-amz-acl', value);
    } else if (name === 'tagging') {
      const tags = tagsOf(value);
      if (tags === null) return null;
      headers.push('x-amz-tagging', tags);
    } else if (sameName.has(name) || samePrefix.some((prefix) => name.startsWith(prefix))) {
      if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return null;
      headers.push(name, value.trim());
    } else if (name.startsWith('x-amz-') && !ofTheSignature.has(name)) {
      return null;
    }
  }
  const isHeader = (value: string): boolean => !/[\0-\x08\x0a-\x1f\x7f]/.test(value);
  return headers.every(isHeader) ? headers : null;
}

/** `<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>` as `a=b`; null when it isn't that. */
function tagsOf(xml: string): string | null {
  const root = parseXml(Buffer.from(xml, 'latin1'));
  const sets = root?.name === 'Tagging' ? root.children : [];
  if (sets.length !== 1 || sets[0]!.name !== 'TagSet') return null;
  const pairs = sets[0]!.children.map(({ name, children }) => {
    const of = (field: string): string | undefined =>
      children.find((child) => child.name === field)?.text;
    const key = of('Key');
    if (name !== 'Tag' || key === undefined) return null;
    return `${percentEncode(key, false)}=${percentEncode(of('Value') ?? '', false)}`;
  });
  return pairs.includes(null) ? null : pairs.join('&');
}

/** An answer in place of the origin's. */
export interface MadeAnswer {
  readonly status: number;
  /** Name, value, … */
  readonly headers: string[];
  readonly body: Buffer;
}

/** What the browser gets when the object was written: a redirection where the form names one, else the status it wants. */
export class PostSuccess {
  readonly #bucket: string;
  readonly #key: string;
  readonly #location: string;
  readonly #redirect: string | null;
  readonly #status: number;

  /** `authority` is the Host that the form was sent to. */
  constructor(fields: FormFields, bucket: string, key: string, authority: string) {
    this.#bucket = bucket;
    this.#key = key;
    this.#location = `http://${authority}${pathOf({ bucket, key })}`;
    this.#redirect = redirectOf(fields);
    const wanted = fields.get('success_action_status');
    this.#status = wanted === '200' || wanted === '201' ? Number(wanted) : 204;
  }

  /** `headers` are those of the origin's answer to the PUT. */
  answer(headers: readonly string[]): MadeAnswer {
    const kept = withoutHeaders(headers, (name) => name === 'content-type' || name === 'location');
    const etag = headerValue(headers, 'etag');
    if (this.#redirect !== null) {
      const said = [this.#bucket, this.#key, etag].map((value) => percentEncode(value, false));
      const query = `bucket=${said[0]!}&key=${said[1]!}&etag=${said[2]!}`;
      const location = `${this.#redirect}${this.#redirect.includes('?') ? '&' : '?'}${query}`;
      return { status: 303, headers: [...kept, 'Location', location], body: Buffer.alloc(0) };
    }
    const own = [...kept, 'Location', this.#location];
    if (this.#status !== 201) {
      return { status: this.#status, headers: own, body: Buffer.alloc(0) };
    }
    const elements = { Location: this.#location, Bucket: this.#bucket, Key: this.#key, ETag: etag };
    const inner = Object.entries(elements)
      .map(([name, value]) => `<${name}>${xmlText(value)}</${name}>`)
      .join('');
    const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse>${inner}</PostResponse>`;
    return {
      status: 201,
      headers: [...own, 'Content-Type', 'application/xml'],
      body: Buffer.from(xml, 'latin1'),
    };
  }
}

/** Where the form wants its browser to go; null when it names no such place, or one that isn't a web page. */
function redirectOf(fields: FormFields): string | null {
  const wanted = fields.get('success_action_redirect') ?? fields.get('redirect') ?? '';
  if (!/^https?:\/\/[\x21-\x7e]+$/i.test(wanted) || URL.parse(wanted) === null) return null;
  return wanted.split('#')[0]!;
}

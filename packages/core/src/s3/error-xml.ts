/** S3's error document. */
import { s3Errors, type ErrorCode } from './errors.ts';

/** Further elements behind the message, such as `['Region', 'us-east-1']`. */
export type ErrorDetail = readonly [name: string, value: string];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/**
 * Text of an XML element, in ASCII. XML 1.0 has no way to write most control characters and a byte above 127 need not
 * be UTF-8, so those are shown percent-encoded.
 */
export function escapeXml(binary: string): string {
  return binary
    .replace(/[&<>"']/g, (character) => entities[character]!)
    .replace(
      /[\u0000-\u001f\u007f-\uffff]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );
}

/** The document for `code`; `resource` is the raw path that was asked for. */
export function errorXml(
  code: ErrorCode,
  resource: string,
  requestId: string,
  details: readonly ErrorDetail[] = [],
  message: string = s3Errors[code].message,
): string {
  const extra = details.map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`).join('');
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<Error><Code>${code}</Code><Message>${escapeXml(message)}</Message>${extra}` +
    `<Resource>${escapeXml(resource)}</Resource><RequestId>${escapeXml(requestId)}</RequestId></Error>`
  );
}

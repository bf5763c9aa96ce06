/**
 * Headers that say how a body is framed and what proves it, as they change on the way.
 *
 * aws-chunked is framing, not content: S3 takes it off before it stores an object, and so it must never reach an object's
 * Content-Encoding by way of an origin that wouldn't.
 */
import { withoutHeaders } from '../http/raw-headers.ts';
import { unsignedTrailerPayload } from '../origin/origin-signer.ts';

const framingHeaders: ReadonlySet<string> = new Set([
  'x-amz-decoded-content-length',
  'x-amz-trailer',
  'x-amz-content-sha256',
]);

/** Without the headers of a framed body; a Content-Encoding keeps what else it names. */
export function withoutFraming(headers: readonly string[]): string[] {
  return withoutHeaders(withoutAwsChunked(headers), (name) => framingHeaders.has(name));
}

/** Without aws-chunked in Content-Encoding: for a body that isn't framed, whatever its client said. */
export function withoutAwsChunked(headers: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    const value = name === 'content-encoding' ? contentCodings(headers[i + 1]!) : headers[i + 1]!;
    if (value !== '' || name !== 'content-encoding') kept.push(headers[i]!, value);
  }
  return kept;
}

/** A Content-Encoding without aws-chunked, '' when nothing else is in it. Left alone when it has none. */
function contentCodings(value: string): string {
  if (!/aws-chunked/i.test(value)) return value;
  return value
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding.toLowerCase() !== 'aws-chunked')
    .join(',');
}

/** With the headers of a body that is framed by `TrailerFraming`. */
export function withTrailerFraming(
  headers: readonly string[],
  length: number,
  trailer: string,
): string[] {
  const kept = withoutFraming(headers);
  const at = kept.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-encoding');
  if (at < 0) kept.push('Content-Encoding', 'aws-chunked');
  else kept[at + 1] = `aws-chunked,${kept[at + 1]!}`;
  kept.push('x-amz-decoded-content-length', String(length), 'x-amz-trailer', trailer);
  kept.push('x-amz-content-sha256', unsignedTrailerPayload);
  return kept;
}

/** Without anything that describes a body's bytes: for a body that is replaced by another. */
export function withoutDigests(headers: readonly string[]): string[] {
  return withoutHeaders(
    withoutFraming(headers),
    (name) =>
      name === 'content-md5' ||
      name === 'content-length' ||
      name === 'x-amz-sdk-checksum-algorithm' ||
      name.startsWith('x-amz-checksum-'),
  );
}

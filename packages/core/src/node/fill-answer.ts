/** Whether S3's answer to a fill is what was asked for. */
import type { FetchHead } from './effects.ts';
import type { Fetch } from './fetch.ts';

/** The very version and range, in full: anything else is another object's, or a server's that ignores what it is asked. */
export function isWhatWasAsked(fetch: Fetch, head: FetchHead): boolean {
  const isPart = head.status === 206;
  const isWhole = head.status === 200 && head.length === head.size;
  return (
    (isPart || isWhole) &&
    head.etag === fetch.etag &&
    head.size === fetch.size &&
    head.first === fetch.first &&
    head.length === fetch.last - fetch.first + 1
  );
}

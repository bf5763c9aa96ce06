/**
 * Whether S3 could have given an answer at some moment of a stretch of time: the question that both staleness and
 * read-your-writes come down to.
 *
 * An answer speaks of one state of its key. Whichever states were current in the stretch are tried; for each, what S3
 * says is known exactly, and all that the client saw must equal it. Bytes that came must all be that one version's.
 */
import type { ClientAnswer } from '../history/client-answer.ts';
import { firstDifference } from '../oracle/content.ts';
import { answerFrom, type Oracle, type S3Answer } from '../oracle/oracle.ts';
import type { Version } from '../oracle/version.ts';

/** Whether the status is one that S3 decides from the object's state alone. */
export function isAboutState(status: number): boolean {
  return (
    status === 200 ||
    status === 206 ||
    status === 304 ||
    status === 404 ||
    status === 412 ||
    status === 416
  );
}

/** States of the key that were current at some moment after `after` and until `until`. */
function statesBetween(
  oracle: Oracle,
  answer: ClientAnswer,
  after: number,
  until: number,
): Version[] {
  const { bucket, key } = answer.request;
  return oracle.history(bucket, key).filter((state) => state.since <= until && state.until > after);
}

/** Null when some state current within (after, until] explains all that was seen; else why the likeliest doesn't. */
export function whyImpossible(
  oracle: Oracle,
  answer: ClientAnswer,
  after: number,
  until: number,
): string | null {
  let reason = 'no state of the key';
  for (const state of statesBetween(oracle, answer, after, until)) {
    const difference = differenceFrom(oracle, state, answer);
    if (difference === null) return null;
    // The state that comes closest says most: the version that the answer names, else one that gives its status.
    const isClose = answer.etag !== '' && answer.etag === state.etag;
    if (isClose || answerFrom(state, answer.request).status === answer.status) reason = difference;
    else if (reason === 'no state of the key') reason = difference;
  }
  return otherVersion(oracle, answer, after, until) ?? reason;
}

/** The version that the answer names, when it is none that was current. */
function otherVersion(
  oracle: Oracle,
  answer: ClientAnswer,
  after: number,
  until: number,
): string | null {
  const { etag, request } = answer;
  if (etag === '') return null;
  const states = oracle.history(request.bucket, request.key);
  const named = states.filter((state) => state.etag === etag);
  const last = named.at(-1);
  if (last === undefined) return `ETag ${etag} never existed`;
  if (named.some((state) => state.since <= until && state.until > after)) return null;
  return `version ${etag} was current in [${last.since}, ${last.until}), not within (${after}, ${until}]`;
}

/** What of the answer isn't what S3 says while `state` is current; null when all is. */
function differenceFrom(oracle: Oracle, state: Version, answer: ClientAnswer): string | null {
  const expected = answerFrom(state, answer.request);
  if (answer.status !== expected.status) {
    return `status ${answer.status} where S3 says ${expected.status} of ${nameOfState(state)}`;
  }
  const { head } = answer.request;
  // A HEAD's answer has no body, so no code.
  if (answer.code !== expected.code && !(head && answer.code === '')) {
    return `code '${answer.code}' where S3 says '${expected.code}'`;
  }
  switch (expected.status) {
    case 404:
    case 412:
      return answer.received === 0 ? null : 'an error with bytes of an object';
    case 416:
      if (answer.received > 0) return 'an error with bytes of an object';
      return answer.size === state.size ? null : `416 names size ${answer.size}, not ${state.size}`;
    case 304:
      if (answer.received > 0) return 'a 304 with a body';
      return wrongHeaders(state, answer);
    case 200:
    case 206:
      return (
        wrongHeaders(state, answer) ??
        wrongRange(expected, answer) ??
        wrongBody(expected, answer) ??
        wrongContent(oracle, state, answer)
      );
  }
}

function nameOfState({ etag }: Version): string {
  return etag === '' ? 'the missing key' : `version ${etag}`;
}

function wrongHeaders(state: Version, answer: ClientAnswer): string | null {
  if (answer.etag !== state.etag) return `ETag ${answer.etag}, not ${state.etag}`;
  if (answer.lastModified !== state.lastModified) {
    return `Last-Modified ${answer.lastModified}, not ${state.lastModified}`;
  }
  return null;
}

function wrongRange(expected: S3Answer, answer: ClientAnswer): string | null {
  const { first, length, version } = expected;
  if (answer.length === -1) {
    // S3 may leave out the length, which only an answer that is passed through shows.
    if (!answer.isPassedThrough) return 'no Content-Length';
    return answer.first === first ? null : `bytes from ${answer.first}, not from ${first}`;
  }
  if (answer.size !== version.size) return `size ${answer.size}, not ${version.size}`;
  if (answer.first === first && answer.length === length) return null;
  return `${answer.length} bytes from ${answer.first}, not ${length} from ${first}`;
}

function wrongBody(expected: S3Answer, answer: ClientAnswer): string | null {
  const { received } = answer;
  if (answer.request.head) return received === 0 ? null : 'HEAD with a body';
  if (received > expected.length) {
    return `${received} bytes came, more than ${expected.length}`;
  }
  if (answer.end === 'finished' && received < expected.length) {
    return `a finished answer is short: ${received} of ${expected.length} bytes`;
  }
  return null;
}

function wrongContent(oracle: Oracle, state: Version, answer: ClientAnswer): string | null {
  let position = answer.first;
  for (const bytes of answer.body) {
    const at = firstDifference(state.content, position, bytes);
    if (at >= 0) {
      const whose = ownerOf(oracle, state, position + at, bytes.subarray(at, at + 16));
      return `byte ${position + at} isn't one of ${nameOfState(state)}: it is ${whose}`;
    }
    position += bytes.length;
  }
  return null;
}

/** Whose bytes came instead: a piece of another version is another mistake than noise. */
function ownerOf(oracle: Oracle, state: Version, first: number, bytes: Uint8Array): string {
  const other = oracle
    .history(state.bucket, state.key)
    .find(({ etag, content }) => etag !== '' && firstDifference(content, first, bytes) === -1);
  return other === undefined ? 'of no version of this key' : `of ${nameOfState(other)}`;
}

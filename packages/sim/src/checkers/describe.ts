/** What happened to the objects that a violation is about: the last events before it, as readable lines. */
import type { Admission } from '../history/block-event.ts';
import type { ClientAnswer } from '../history/client-answer.ts';
import type { ClientWrite } from '../history/client-write.ts';
import type { History } from '../history/history.ts';
import type { NodeRead } from '../history/node-read.ts';
import type { OriginRequest } from '../history/origin-request.ts';
import { nameOf, type Oracle } from '../oracle/oracle.ts';
import type { S3Read } from '../oracle/request.ts';
import type { Version } from '../oracle/version.ts';

interface Line {
  readonly at: number;
  readonly text: string;
}

/** The last `count` events of the objects (as `nameOf` writes them), and faults among them, oldest first. */
export function describeObjects(
  history: History,
  oracle: Oracle,
  objects: readonly string[],
  count: number,
): string[] {
  const lines: Line[] = [];
  for (const name of new Set(objects)) {
    const slash = name.indexOf('/');
    const bucket = name.slice(0, slash);
    const key = name.slice(slash + 1);
    const records = history.of(bucket, key);
    lines.push(...oracle.history(bucket, key).flatMap(linesOfVersion));
    lines.push(...records.answers.flatMap(linesOfAnswer));
    lines.push(...records.writes.flatMap(linesOfWrite));
    lines.push(...records.originRequests.flatMap(linesOfOriginRequest));
    lines.push(...records.nodeReads.flatMap(linesOfNodeRead));
    lines.push(...records.admissions.map(lineOfAdmission));
  }
  for (const { what, from, until, object } of history.faults) {
    if (object !== '' && !objects.includes(object)) continue;
    lines.push({ at: from, text: `fault: ${what}` });
    lines.push({ at: until, text: `fault over: ${what}` });
  }
  return lines
    .filter(({ at }) => Number.isFinite(at))
    .sort((one, other) => one.at - other.at)
    .slice(-count)
    .map(({ at, text }) => `${at.toFixed(3).padStart(12)} ms  ${text}`);
}

function linesOfVersion(version: Version): Line[] {
  const { bucket, key, etag, size, since, write } = version;
  const by = write === -1 ? 'behind the cache' : `by write ${write}`;
  const what = etag === '' ? 'is deleted' : `becomes ${etag}, ${size} bytes,`;
  return [{ at: since, text: `S3: ${nameOf(bucket, key)} ${what} ${by}` }];
}

function wordsOf({ bucket, key, head, range, conditions }: S3Read): string {
  const words = [head ? 'HEAD' : 'GET', nameOf(bucket, key)];
  if (range !== null) words.push(range);
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions;
  if (ifMatch !== null) words.push(`If-Match ${ifMatch}`);
  if (ifNoneMatch !== null) words.push(`If-None-Match ${ifNoneMatch}`);
  if (ifModifiedSince !== null) words.push(`If-Modified-Since ${ifModifiedSince}`);
  if (ifUnmodifiedSince !== null) words.push(`If-Unmodified-Since ${ifUnmodifiedSince}`);
  return words.join(' ');
}

function linesOfAnswer(answer: ClientAnswer): Line[] {
  const { id, client, gateway, status, code, etag, first, length, received } = answer;
  const read = `read ${id}`;
  const passed = answer.isPassedThrough ? ', passed through' : '';
  const body = status === 200 || status === 206 ? `, ${length} bytes from ${first}` : '';
  return [
    {
      at: answer.startedAt,
      text: `${read}: client ${client} asks gateway ${gateway} for ${wordsOf(answer.request)}`,
    },
    { at: answer.answeredAt, text: `${read}: ${status} ${code}${etag}${body}${passed}` },
    { at: answer.endedAt, text: `${read}: ${answer.end} with ${received} bytes` },
  ];
}

function linesOfWrite(write: ClientWrite): Line[] {
  const { id, client, gateway, operation, bucket, keys, source } = write;
  const from = source === null ? '' : ` from ${nameOf(source.bucket, source.key)}`;
  const names = keys.map((key) => nameOf(bucket, key)).join(', ');
  return [
    {
      at: write.startedAt,
      text: `write ${id}: client ${client} asks gateway ${gateway} for ${operation} of ${names}${from}`,
    },
    { at: write.concludedAt, text: `write ${id}: the gateway concludes ${write.conclusion}` },
    { at: write.endedAt, text: `write ${id}: ${write.outcome} ${write.status} ${write.code}` },
  ];
}

function linesOfOriginRequest(request: OriginRequest): Line[] {
  const { id, node, life, kind, status, code, end, isFaulty } = request;
  const fetch = `request ${id} to S3`;
  const fault = isFaulty ? ', a fault' : '';
  return [
    {
      at: request.sentAt,
      text: `${fetch}: node ${node} (life ${life}), ${kind}, ${wordsOf(request.request)}`,
    },
    { at: request.decidedAt, text: `${fetch}: S3 decides ${status} ${code}${fault}` },
    { at: request.endedAt, text: `${fetch}: ${end}` },
  ];
}

function linesOfNodeRead(read: NodeRead): Line[] {
  const { id, node, kind, etag, first, last } = read;
  const what = kind === 'lookup' ? 'a lookup' : `bytes ${first}-${last} of ${etag}`;
  return [
    { at: read.arrivedAt, text: `node ${node} is asked for ${what} (node read ${id})` },
    { at: read.endedAt, text: `node ${node}: node read ${id} ${read.end}` },
  ];
}

function lineOfAdmission({ at, node, as, block }: Admission): Line {
  return { at, text: `node ${node} (${as}) stores block ${block.index} of ${block.etag}` };
}

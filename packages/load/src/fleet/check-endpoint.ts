/**
 * Whether a run can begin: the endpoint answers, takes the credentials, and has the objects that the plan asks for.
 *
 * A few objects of each dataset are read at their first page, so that a dataset that was seeded by another plan shows too.
 */
import { findDifference, pageBytes } from '../dataset/content.ts';
import { Dataset } from '../dataset/dataset.ts';
import type { ServerAddress } from '../http/address.ts';
import { addressOf } from '../http/address.ts';
import type { ShortAnswer } from '../http/ask.ts';
import { NoAnswer, ask } from '../http/ask.ts';
import { emptyHash } from '../http/request-writer.ts';
import type { DatasetPlan, Endpoint } from '../plan/plan.ts';

/** The run can't begin, or can't go on; the message says why and what to do. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError';
}

/** Objects of a dataset that are looked at. */
const samples = 5;

/** Where the endpoint is. Throws EndpointError. */
export async function findEndpoint(endpoint: Endpoint): Promise<ServerAddress> {
  try {
    return await addressOf(endpoint);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    throw new EndpointError(`${endpoint.url} has no address: ${code}`);
  }
}

/** Creates the bucket unless it is there. Throws EndpointError. */
export async function createBucket(
  endpoint: Endpoint,
  address: ServerAddress,
  bucket: string,
): Promise<void> {
  const found = await answerTo(endpoint, address, 'HEAD', `/${bucket}`, '');
  if (found.status !== 404) {
    judgeRefusal(endpoint, found, `bucket ${bucket}`);
    return;
  }
  judgeRefusal(
    endpoint,
    await answerTo(endpoint, address, 'PUT', `/${bucket}`, ''),
    `bucket ${bucket}`,
  );
}

/** Throws EndpointError for the first object that isn't there, or isn't the plan's. */
export async function checkSeeded(
  endpoint: Endpoint,
  address: ServerAddress,
  plan: DatasetPlan,
): Promise<void> {
  const dataset = new Dataset(plan);
  const last = plan.objects - 1;
  const numbers = Array.from({ length: samples }, (_, at) =>
    Math.floor((last * at) / (samples - 1)),
  );
  for (const object of new Set(numbers)) {
    const size = dataset.size(object);
    const range = size > pageBytes ? `bytes=0-${pageBytes - 1}` : '';
    const path = `/${plan.bucket}/${dataset.key(object)}`;
    const answer = await answerTo(endpoint, address, 'GET', path, range);
    judgeObject(endpoint, plan, dataset, object, answer);
  }
}

async function answerTo(
  endpoint: Endpoint,
  address: ServerAddress,
  method: 'GET' | 'HEAD' | 'PUT',
  path: string,
  range: string,
): Promise<ShortAnswer> {
  const bodyBytes = method === 'PUT' ? 0 : -1;
  const parts = { method, path, query: '', range, payloadHash: emptyHash, bodyBytes };
  try {
    return await ask(endpoint, address, parts);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw new EndpointError(`${endpoint.url} can't be reached: ${error.message}`);
  }
}

function judgeRefusal(endpoint: Endpoint, answer: ShortAnswer, what: string): void {
  const { status } = answer;
  if (status === 200 || status === 206 || status === 204) return;
  const text = answer.body.toString('latin1');
  const code = /<Code>([^<]{1,100})<\/Code>/.exec(text)?.[1] ?? '';
  const message = /<Message>([^<]{1,300})<\/Message>/.exec(text)?.[1] ?? '';
  const said = `${status} ${code}`.trimEnd() + (message === '' ? '' : ` (${message})`);
  const isRefused = status === 401 || status === 403;
  throw new EndpointError(
    isRefused
      ? `${endpoint.url} refuses access key ${endpoint.accessKeyId} for ${what}: ${said}`
      : `${endpoint.url} answers ${said} for ${what}`,
  );
}

function judgeObject(
  endpoint: Endpoint,
  plan: DatasetPlan,
  dataset: Dataset,
  object: number,
  answer: ShortAnswer,
): void {
  const key = dataset.key(object);
  const where = `${plan.bucket}/${key}`;
  const seeding = `s3-accelerator-load seed PLAN --dataset ${plan.name}`;
  if (answer.status === 404) {
    throw new EndpointError(
      `dataset ${plan.name} isn't seeded: ${where} is missing; run ${seeding}`,
    );
  }
  judgeRefusal(endpoint, answer, where);
  const expected = dataset.size(object);
  const total = /\r\ncontent-range:[^\r]*\/(\d+)/i.exec(answer.head)?.[1];
  const size = total === undefined ? answer.body.length : Number(total);
  const identity = dataset.identity(object);
  const isSame = findDifference(identity, 0, answer.body, 0, answer.body.length) < 0;
  if (size === expected && isSame) return;
  throw new EndpointError(
    `dataset ${plan.name} was seeded otherwise: ${where} has ` +
      (size === expected ? 'other bytes' : `${size} bytes instead of ${expected}`) +
      `; run ${seeding}`,
  );
}

/** A client and an origin of raw sockets that does what the test says. */
import type { TestContext } from 'node:test';
import { OriginClient } from '../origin-client.ts';
import type { OriginRequest } from '../origin-exchange.ts';
import type { OriginLimits } from '../origin-limits.ts';
import { resolveOrigin, type Origin } from '../origins.ts';
import { RawOrigin, type RawScript } from './raw-origin.ts';

export const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };

export function originAt(endpoint: string, limits: Partial<OriginLimits> = {}): Origin {
  return resolveOrigin({ endpoint, region: 'us-east-1', credentials, limits });
}

export function requestTo(origin: Origin, changes: Partial<OriginRequest> = {}): OriginRequest {
  return {
    operation: 'GetObject',
    method: 'GET',
    target: '/b/k',
    sign: () => ['host', origin.host],
    bodyLength: null,
    idempotent: (changes.method ?? 'GET') === 'GET',
    retryStatuses: new Set([500, 503]),
    firstByteTimeoutMs: 5000,
    ...changes,
  };
}

export async function startClient(
  t: TestContext,
  script: RawScript,
  limits: Partial<OriginLimits> = {},
  atHead = false,
): Promise<{ raw: RawOrigin; client: OriginClient; origin: Origin }> {
  const raw = await RawOrigin.start(script, atHead);
  const client = new OriginClient();
  t.after(async () => {
    await client.close();
    await raw.close();
  });
  return { raw, client, origin: originAt(raw.endpoint, limits) };
}

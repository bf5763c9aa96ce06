/**
 * The HTTP side of the metadata service. It answers GET, in JSON, to bearers of a known token:
 *
 *   /v1/clients/KEY_ID?date=YYYYMMDD&region=REGION   what a gateway needs to check this client's signatures of that day
 *   /v1/origins                                      all origins
 *   /healthz                                         200 while the service lives; needs no token
 *
 * Bounded: few connections, short heads, no bodies, short waits. Nothing that is asked or answered is logged.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { formatAddress, type Address } from 's3-accelerator/config/address.ts';
import type { Directory, Subject } from './directory.ts';

export const serviceLimits = {
  maxConnections: 4096,
  maxHeadBytes: 8192,
  timeoutMs: 10_000,
  keepAliveMs: 60_000,
} as const;

export interface Service {
  /** Where it listens: the port that the kernel chose, when it was asked to. */
  readonly at: string;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

const failure = (status: number, error: string): Answer => ({
  status,
  body: JSON.stringify({ error }),
});

/** Requests may be signed for days within a presigned URL's life, and for the next one where clocks differ. */
const dayMs = 86_400_000;
const daysBack = 9;

/** What it proves itself with, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Starts listening, over TLS with a certificate, else in the clear. `directory` is asked for every request, so that a reload takes effect. Fails with the system's error. */
export async function startService(
  listen: Address,
  certificate: Certificate | null,
  directory: () => Directory,
): Promise<Service> {
  const limits = {
    maxHeaderSize: serviceLimits.maxHeadBytes,
    headersTimeout: serviceLimits.timeoutMs,
    requestTimeout: serviceLimits.timeoutMs,
    keepAliveTimeout: serviceLimits.keepAliveMs,
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    send(request, response, answerTo(request, directory()));
  };
  const server =
    certificate === null
      ? createServer(limits, answer)
      : createTlsServer({ ...limits, ...certificate }, answer);
  server.maxConnections = serviceLimits.maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen.port, listen.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  return {
    at: formatAddress({ host: listen.host, port }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), 1000).unref();
      }),
  };
}

function answerTo(request: IncomingMessage, directory: Directory): Answer {
  if (request.method !== 'GET' && request.method !== 'HEAD') return failure(405, 'only GET');
  const url = URL.parse(request.url ?? '/', 'http://service');
  if (url === null) return failure(400, 'that is no path');
  if (url.pathname === '/healthz') return { status: 200, body: '{"status":"ok"}' };
  const token = /^Bearer +([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const asked = subjectOf(url.pathname);
  const may = directory.mayAsk(token);
  if (may === null) return failure(401, 'a known bearer token is needed');
  if (asked === null) return failure(404, 'nothing here');
  if (may !== 'all' && may !== asked) return failure(403, `this token may ask about ${may} only`);
  return asked === 'origins' ? { status: 200, body: directory.origins } : client(url, directory);
}

const clientPath = '/v1/clients/';

function subjectOf(path: string): Subject | null {
  if (path === '/v1/origins') return 'origins';
  return path.startsWith(clientPath) ? 'clients' : null;
}

function client(url: URL, directory: Directory): Answer {
  const day = url.searchParams.get('date') ?? '';
  const region = url.searchParams.get('region') ?? '';
  if (!isDayOfNow(day)) return failure(400, 'date must be YYYYMMDD, and within nine days of now');
  if (!/^[A-Za-z0-9_.-]{1,64}$/.test(region)) return failure(400, 'region must be a region name');
  let id: string;
  try {
    id = decodeURIComponent(url.pathname.slice(clientPath.length));
  } catch {
    return failure(400, 'the key id can not be decoded');
  }
  const body = directory.client(id, day, region);
  return body === null ? failure(404, 'no such key') : { status: 200, body };
}

/** Keys for days to come would outlast a client that is taken back today. */
function isDayOfNow(day: string): boolean {
  if (!/^\d{8}$/.test(day)) return false;
  const at = Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T00:00:00Z`);
  return at > Date.now() - (daysBack + 1) * dayMs && at < Date.now() + dayMs;
}

function send(request: IncomingMessage, response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

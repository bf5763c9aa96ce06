/**
 * The admin listener: metrics and health checks over plain HTTP.
 *
 * It answers GET and HEAD without a password, so it belongs on a private address, and it is bounded: few connections,
 * short heads, short waits. It runs on node:http, away from the data path.
 *
 *   /metrics   every metric as Prometheus text
 *   /healthz   200 while the process lives
 *   /readyz    200 when it can serve clients, else 503 and the reason
 *   /          this list
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Address } from '../config/address.ts';
import type { FaultLog } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';

export interface AdminOptions {
  readonly listen: Address;
  readonly metrics: Metrics;
  /** null when the process can serve clients, else why it can't, in words. */
  readonly notReady: () => string | null;
  readonly version: string;
  readonly faults: FaultLog;
}

export interface AdminServer {
  /** Where it listens: the port that the kernel chose, when it was asked to. */
  readonly address: Address;
  /** Stops listening and cuts open connections. */
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
}

export const adminLimits = {
  maxConnections: 64,
  maxHeadBytes: 8192,
  timeoutMs: 5000,
} as const;

/** Starts listening. Fails with the system's error when it can't. */
export async function startAdmin(options: AdminOptions): Promise<AdminServer> {
  const { faults, listen } = options;
  const server = createServer(
    {
      maxHeaderSize: adminLimits.maxHeadBytes,
      headersTimeout: adminLimits.timeoutMs,
      requestTimeout: adminLimits.timeoutMs,
      keepAliveTimeout: adminLimits.timeoutMs,
      connectionsCheckingInterval: 1000,
    },
    (request, response) => {
      answer(request, options).then(
        (said) => send(request, response, said),
        (error: unknown) => {
          faults.error('admin', 'an admin request failed', { error: String(error) });
          send(request, response, { status: 500, body: 'failed; the log says why\n' });
        },
      );
    },
  );
  server.maxConnections = adminLimits.maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen.port, listen.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', (error) => {
    faults.error('admin', 'the admin listener failed', { error: error.message });
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: { host: listen.host, port },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, options: AdminOptions): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { status: 405, body: 'only GET and HEAD\n' };
  }
  switch ((request.url ?? '/').replace(/\?.*$/s, '')) {
    case '/':
      return { status: 200, body: index(options.version) };
    case '/healthz':
      return { status: 200, body: 'ok\n' };
    case '/readyz': {
      const reason = options.notReady();
      return reason === null
        ? { status: 200, body: 'ready\n' }
        : { status: 503, body: `not ready: ${reason}\n` };
    }
    case '/metrics':
      return {
        status: 200,
        type: options.metrics.contentType,
        body: await options.metrics.scrape(),
      };
    default:
      return { status: 404, body: 'nothing here; / lists what there is\n' };
  }
}

function send(request: IncomingMessage, response: ServerResponse, said: Answer): void {
  response.writeHead(said.status, {
    'content-type': said.type ?? 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(said.body),
    'cache-control': 'no-store',
    ...(said.status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : said.body);
}

function index(version: string): string {
  return [
    `s3-accelerator ${version}`,
    '',
    '/metrics   metrics as Prometheus text',
    '/healthz   200 while the process lives',
    '/readyz    200 when it can serve clients, else 503 and the reason',
    '',
  ].join('\n');
}

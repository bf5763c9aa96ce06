/**
 * Which of a client's headers travel on to the origin, and which of the origin's back to the client.
 *
 * Everything does, byte for byte and in its order, but what belongs to one connection, and the client's own credentials: the
 * request is signed anew.
 */
import { debugHeader } from '../gateway/cache-report.ts';
import { withoutHeaders } from '../http/raw-headers.ts';

/** Lower-case names of headers that belong to one connection. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Made anew for the origin: its host, its signature, its length. */
const madeAnew = new Set([
  'host',
  'authorization',
  'date',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-content-sha256',
  'content-length',
  // undici has no use for it, and the client has its answer from this gateway.
  'expect',
  // Meant for this gateway.
  debugHeader,
]);

/**
 * The client's headers for the origin, as name, value, … What else its Connection header names goes on nevertheless: Connection
 * isn't signed, and must not take a condition, an encryption or a copy's source away that is.
 */
export function headersForOrigin(headers: readonly string[]): string[] {
  return withoutHeaders(headers, (name) => hopByHop.has(name) || madeAnew.has(name));
}

/** Written by the server into every head. */
const writtenByServer = new Set(['content-length', 'date', 'x-amz-request-id']);

/** The origin's headers for the client, but those that the server writes itself: framing, date, request id. */
export function headersForClient(headers: readonly string[]): string[] {
  const named = connectionOptions(headers);
  return withoutHeaders(headers, (name) => {
    return hopByHop.has(name) || writtenByServer.has(name) || named.has(name);
  });
}

function connectionOptions(headers: readonly string[]): Set<string> {
  const options = new Set<string>();
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.toLowerCase() !== 'connection') continue;
    for (const option of headers[i + 1]!.split(',')) options.add(option.trim().toLowerCase());
  }
  return options;
}

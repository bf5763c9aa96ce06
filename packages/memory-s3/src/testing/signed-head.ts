// Signed request heads as text, for tests over raw sockets. Signed by a library, so that the check is
// never tested against itself.
import { createRequire } from 'node:module';
import type { MemoryS3 } from '../memory-s3.ts';

// The library ships no types; this is all that is used of it.
interface Aws4 {
  sign(
    request: {
      service: string;
      region: string;
      method: string;
      path: string;
      host: string;
      headers: Record<string, string>;
    },
    credentials: { accessKeyId: string; secretAccessKey: string },
  ): { readonly headers: Record<string, string | number> };
}

const aws4 = createRequire(import.meta.url)('aws4') as Aws4;

/** A request head up to its empty line. The payload is declared unsigned. */
export function signedHead(
  s3: MemoryS3,
  method: string,
  target: string,
  headers: readonly (readonly [string, string])[],
): string {
  const [credential] = s3.credentials;
  const signed = aws4.sign(
    {
      service: 's3',
      region: s3.region,
      method,
      path: target,
      host: `127.0.0.1:${s3.port}`,
      headers: { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD', ...Object.fromEntries(headers) },
    },
    {
      accessKeyId: credential?.accessKey ?? '',
      secretAccessKey: credential?.secretKey ?? '',
    },
  );
  const lines = Object.entries(signed.headers).map(([name, value]) => {
    return `${name}: ${String(value)}`;
  });
  return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

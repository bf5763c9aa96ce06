/** TLS before a plain server of this machine, with a certificate for `localhost` that nobody else trusts. */
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import type { Server } from 'node:tls';
import { createServer } from 'node:tls';

/** Self-signed, for tests alone, good until 2126. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUM38TjIz/1+f930wyu4mMBpcrs5UwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEzMDAyMjkzM1oYDzIxMjYxMTA2
MDIyOTMzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARYL402rz5FYl7IwthOuT5kbEZtDEli+/4joivwNXuklSR1jipUcSZh
4Ztwlbo1BarFo1GC1k2bBpmlCykeSCBso2kwZzAdBgNVHQ4EFgQUynbHLcLx7NmM
Xly/hEPINhKFlUAwHwYDVR0jBBgwFoAUynbHLcLx7NmMXly/hEPINhKFlUAwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SAAwRQIgA2hB2sQwBgOWgOrlhzT4yf++VngRj9nHqcmw0Vs7b0sCIQDQSjY3FKWH
Y2S/T+kSm+mv6mHWp5OMqeZtJsYDn3Qm/A==
-----END CERTIFICATE-----
`;

/** Its private key, no secret. */
export const certificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgF98gRCvCnbmCloBj
bxC1DMkaL2zNXlygK964BhMPaJ2hRANCAARYL402rz5FYl7IwthOuT5kbEZtDEli
+/4joivwNXuklSR1jipUcSZh4Ztwlbo1BarFo1GC1k2bBpmlCykeSCBs
-----END PRIVATE KEY-----
`;

/** Listens on `localhost` and hands every connection on to that port of 127.0.0.1. */
export async function startTlsFront(port: number): Promise<{ server: Server; port: number }> {
  const server = createServer({ cert: certificate, key: certificateKey }, (client) => {
    const plain = connect(port, '127.0.0.1');
    client.pipe(plain).pipe(client);
    client.on('error', () => plain.destroy());
    plain.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

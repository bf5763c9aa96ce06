/** Clients as a configuration has them. To a gateway, each key of a client is one credential with the client's grants. */
import type { ClientConfig } from '../config/config.ts';
import type { ClientSettings } from './clients.ts';

export function configuredClients(clients: readonly ClientConfig[]): ClientSettings[] {
  return clients.flatMap((client) => {
    // Configuration is UTF-8 text, object keys are bytes: a prefix is compared byte for byte.
    const grants = client.grants.map(({ bucket, prefix, access }) => ({
      bucket,
      prefix: Buffer.from(prefix, 'utf8').toString('latin1'),
      access,
    }));
    return [client, ...client.keys].map((key) => ({
      accessKeyId: key.accessKeyId,
      secretAccessKey: key.secretAccessKey.reveal(),
      sessionToken: key.sessionToken?.reveal(),
      expiresAtMs: key.expiresAt,
      grants,
    }));
  });
}

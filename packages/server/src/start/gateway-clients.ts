/** Who a gateway knows clients from: its configuration, and a metadata service when there is one. */
import { ClientTable, type ClientSource } from '../auth/clients.ts';
import { configuredClients } from '../auth/configured-clients.ts';
import type { ClaimedScope } from '../auth/signing-keys.ts';
import type { Config } from '../config/config.ts';
import { ClientDirectory, directoryTickMs } from '../metadata-client/client-directory.ts';
import { MetadataService } from '../metadata-client/metadata-service.ts';
import { TwoSources } from '../metadata-client/two-sources.ts';
import { publishLimit } from '../metrics/publish.ts';
import type { ProcessContext } from './process-context.ts';

type ClientsContext = Pick<ProcessContext, 'config' | 'faults' | 'metrics' | 'now'>;

export class GatewayClients {
  /** null without a metadata service. */
  readonly directory: ClientDirectory | null;
  readonly #service: MetadataService | null;
  readonly #ticker: NodeJS.Timeout | null;

  /** `forget`: what was said of a client in this scope has to be asked for again. */
  constructor(
    { config, faults, metrics, now }: ClientsContext,
    forget: (claimed: ClaimedScope) => void,
  ) {
    const { metadata } = config;
    if (metadata === undefined) {
      this.directory = null;
      this.#service = null;
      this.#ticker = null;
      return;
    }
    const service = new MetadataService(metadata);
    const directory = new ClientDirectory({
      ask: (claimed) => service.client(claimed),
      forget,
      onFailed: ({ message }) => {
        faults.warn('metadata-clients', 'the metadata service gave no answer about a client', {
          reason: message,
        });
      },
      refreshMs: metadata.refreshS * 1000,
      keepMs: metadata.keepS * 1000,
      now,
      wallClock: Date.now,
    });
    this.#service = service;
    this.directory = directory;
    this.#ticker = setInterval(() => {
      directory.tick();
    }, directoryTickMs);
    const { counters } = directory;
    metrics.readFrom('s3accel_gateway_client_lookups_total', () => counters.lookups);
    metrics.readFrom('s3accel_gateway_client_lookup_failures_total', () => counters.failures);
    metrics.readFrom('s3accel_gateway_clients_known', () => directory.size);
    publishLimit(metrics, 'client_lookups', () => counters.busy);
  }

  /** All clients, with those of this configuration first. */
  of(config: Config): ClientSource {
    const configured = new ClientTable(configuredClients(config.clients));
    return this.directory === null ? configured : new TwoSources(configured, this.directory);
  }

  async stop(): Promise<void> {
    if (this.#ticker !== null) clearInterval(this.#ticker);
    await this.#service?.close();
  }
}

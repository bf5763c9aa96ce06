/** Clients of the configuration, and behind them those that the metadata service knows. */
import type { Client, ClientSource, ClientTable } from '../auth/clients.ts';

export class TwoSources implements ClientSource {
  readonly #configured: ClientTable;
  readonly #served: ClientSource;

  constructor(configured: ClientTable, served: ClientSource) {
    this.#configured = configured;
    this.#served = served;
  }

  find(accessKeyId: string, day: string, region: string): Client | null {
    return this.#configured.find(accessKeyId) ?? this.#served.find(accessKeyId, day, region);
  }
}

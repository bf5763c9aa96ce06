/**
 * Clients: each sends one request after another through its gateway, now with one credential and now with another, until the
 * run has had its number.
 */
import { ClientRequests, type ClientRequestsOptions, type Sender } from './client-requests.ts';
import type { GatewayHost } from './gateway-host.ts';
import type { Workload } from './workload.ts';

export interface ClientsOptions extends ClientRequestsOptions {
  readonly workload: Workload;
  /** Requests that clients send, all told. */
  readonly requests: number;
}

/** How long a client whose gateway is down, or not ready yet, waits before it tries again. */
const retryMs = 20;

export class Clients {
  readonly #options: ClientsOptions;
  readonly #requests: ClientRequests;
  #sent = 0;
  #active = 0;

  constructor(options: ClientsOptions) {
    this.#options = options;
    this.#requests = new ClientRequests(options);
  }

  /** Requests that clients have sent. */
  get sent(): number {
    return this.#sent;
  }

  /** Whether all have had their answers and ask for nothing more. */
  get areDone(): boolean {
    return this.#active === 0;
  }

  /** Lets a client of a gateway begin. */
  add(client: number, gateway: GatewayHost): void {
    this.#active += 1;
    this.#think(client, gateway);
  }

  #think(client: number, gateway: GatewayHost): void {
    const { world, workload } = this.#options;
    world.queue.in(workload.thinkMs() + 0.01, () => {
      this.#act(client, gateway);
    });
  }

  #act(client: number, gateway: GatewayHost): void {
    const { world, workload, requests } = this.#options;
    if (this.#sent >= requests) {
      this.#active -= 1;
      return;
    }
    // Each request on a connection of its own.
    const run = gateway.loopOf(client + this.#sent);
    if (run?.cluster.isReady !== true) {
      world.queue.in(retryMs, () => {
        this.#act(client, gateway);
      });
      return;
    }
    const onEnd = (): void => {
      this.#think(client, gateway);
    };
    const sender: Sender = { client, credential: workload.credential(), gateway: run };
    if (!workload.isWrite()) {
      this.#sent += 1;
      this.#read(sender, onEnd);
    } else if (workload.isBehind()) {
      if (workload.writeBehind(world.queue.now)) world.situations.arose('write behind the cache');
      onEnd();
    } else {
      this.#sent += 1;
      this.#write(sender, onEnd);
    }
  }

  #read(sender: Sender, onEnd: () => void): void {
    const { world, workload } = this.#options;
    const { leaveMs, ...read } = workload.read();
    if (read.stallMs > 0) world.situations.arose('client stalled');
    const exchange = this.#requests.read(sender, read, onEnd);
    if (leaveMs === Infinity) return;
    world.queue.in(leaveMs, () => {
      sender.gateway.leave(exchange);
    });
  }

  #write(sender: Sender, onEnd: () => void): void {
    const { world, workload } = this.#options;
    const request = workload.write();
    const uploadMs = request.object === null ? 0 : workload.uploadMs();
    const leaveMs = workload.writeLeaveMs();
    const write = this.#requests.write(sender, request, uploadMs, onEnd);
    if (leaveMs === Infinity) return;
    world.queue.in(leaveMs, () => write?.clientGone());
  }
}

/** Ports of this machine: free ones to start servers at, and whether these answer by now. */
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** As many local ports as asked for that nothing listens on at this moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Waits until something answers HTTP on a local port, ten seconds at most; `said` is what its process has to say. */
export async function untilAnswers(port: number, said: () => string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/`, {
        signal: AbortSignal.timeout(1000),
      });
      await answer.arrayBuffer();
      return;
    } catch {
      await sleep(50);
    }
  }
  throw new Error(`nothing answers on 127.0.0.1:${port}\n${said()}`);
}

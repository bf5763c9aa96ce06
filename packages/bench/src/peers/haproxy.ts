/** HAProxy with its cache in memory and one thread. It caches no ranges, and nothing that was asked for with credentials. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { start } from '../machine/child.ts';
import { freePorts } from '../machine/ports.ts';
import { installedVersion, onceItAnswers, type RunningPeer } from './peer.ts';

/** The version of the installed HAProxy, or null. */
export const haproxyVersion = (): string | null =>
  installedVersion('haproxy', '-v', /version (\d+\.\d+\.\d+)/);

const config = (port: number, originPort: number, megabytes: number): string => `
global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout client 600s
  timeout server 600s
  timeout connect 5s
  timeout http-keep-alive 600s
  option http-keep-alive
cache bench
  total-max-size ${megabytes}
  max-object-size ${2 << 20}
  max-age 3600
frontend front
  bind 127.0.0.1:${port}
  http-request del-header authorization
  http-request cache-use bench
  default_backend origin
backend origin
  http-response cache-store bench
  server origin 127.0.0.1:${originPort}
`;

/** Starts it in front of an origin on this machine. `megabytes` bounds what it keeps. */
export async function startHaproxy(options: {
  readonly directory: string;
  readonly originPort: number;
  readonly megabytes: number;
  readonly launch: readonly string[];
}): Promise<RunningPeer> {
  const { directory, originPort, megabytes, launch } = options;
  mkdirSync(directory, { recursive: true });
  const [port = 0] = await freePorts(1);
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, config(port, originPort, megabytes));
  const child = start(launch, ['haproxy', '-db', '-f', file]);
  return onceItAnswers(child, port);
}

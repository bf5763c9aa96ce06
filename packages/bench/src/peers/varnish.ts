/** Varnish with its cache in memory, in one thread pool; everything is looked up, signed requests too. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { start } from '../machine/child.ts';
import { freePorts } from '../machine/ports.ts';
import { installedVersion, onceItAnswers, type RunningPeer } from './peer.ts';

/** The version of the installed Varnish, or null. */
export const varnishVersion = (): string | null =>
  installedVersion('varnishd', '-V', /varnish-(\d[\d.]*)/);

// By itself Varnish passes every request that has an Authorization header.
const vcl = (originPort: number): string => `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${originPort}"; }
sub vcl_recv { return (hash); }
sub vcl_backend_response { set beresp.ttl = 1h; set beresp.uncacheable = false; }
`;

/** Starts it in front of an origin on this machine. `megabytes` bounds what it keeps. */
export async function startVarnish(options: {
  readonly directory: string;
  readonly originPort: number;
  readonly megabytes: number;
  readonly launch: readonly string[];
}): Promise<RunningPeer> {
  const { directory, originPort, megabytes, launch } = options;
  mkdirSync(directory, { recursive: true });
  const [port = 0] = await freePorts(1);
  const file = join(directory, 'bench.vcl');
  writeFileSync(file, vcl(originPort));
  const child = start(launch, [
    'varnishd',
    // Else root's Varnish gives its rights up, and can't read a private temporary folder.
    ...(process.getuid?.() === 0 ? ['-j', 'none'] : []),
    ...['-F', '-f', file, '-n', join(directory, 'work'), '-a', `127.0.0.1:${port}`],
    ...['-s', `malloc,${megabytes}m`, '-T', 'none', '-t', '3600'],
    ...['-p', 'thread_pools=1', '-p', 'thread_pool_min=80', '-p', 'vsl_mask=-VCL_trace'],
  ]);
  return onceItAnswers(child, port);
}

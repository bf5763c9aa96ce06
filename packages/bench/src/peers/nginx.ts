/**
 * nginx as the peer to beat: one worker that caches files (the node's place), one that relays to it (the gateway's place), one
 * that caches slices of 1 MiB, and one that serves plain files, which is the origin of the others too. Over keep-alive
 * connections, in the settings that served it best when they were tried: with tcp_nopush the end of a 64 KiB answer waits for a
 * delayed acknowledgement, and smaller buffers cost the relay more calls.
 *
 * The origin answers every key from a few files, one for each size: priming is cheap, and `static` is served from the
 * processor's own caches, which flatters it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { start, stop, type StartedChild } from '../machine/child.ts';
import { freePorts, untilAnswers } from '../machine/ports.ts';
import { processTree } from '../machine/process-cpu.ts';
import { installedVersion, type RunningPeer } from './peer.ts';

const roles = ['static', 'cache', 'relay', 'slice'] as const;
export type NginxRole = (typeof roles)[number];
type Ports = Readonly<Record<NginxRole, number>>;

/** An object whose key begins with `prefix` has that many bytes. */
export interface KeySize {
  readonly prefix: string;
  readonly bytes: number;
}

/** The version of the installed nginx, or null. */
export const nginxVersion = (): string | null => installedVersion('nginx', '-v', /nginx\/(\S+)/);

function common(directory: string, name: string): string {
  // As root nginx would drop to a user that can't read a private temporary folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `
daemon off; master_process on; worker_processes 1; ${user}
pid ${directory}/${name}.pid; error_log ${directory}/${name}.error.log warn;
events { worker_connections 4096; }
`;
}

const http = (directory: string, name: string): string => `
  access_log off; sendfile on; tcp_nodelay on;
  keepalive_requests 100000000; keepalive_timeout 600s;
  client_body_temp_path ${directory}/${name}-body; proxy_temp_path ${directory}/${name}-proxy;
  fastcgi_temp_path ${directory}/${name}-fastcgi; uwsgi_temp_path ${directory}/${name}-uwsgi;
  scgi_temp_path ${directory}/${name}-scgi;
`;

const cachePath = (directory: string, name: string): string =>
  `proxy_cache_path ${directory}/${name} levels=2:2 keys_zone=bench:64m max_size=64g inactive=60m use_temp_path=off;`;

const bestBuffers =
  'proxy_max_temp_file_size 0; proxy_buffers 16 64k; proxy_buffer_size 16k; proxy_busy_buffers_size 256k;';

const configs: Readonly<
  Record<NginxRole, (directory: string, ports: Ports, sizes: readonly KeySize[]) => string>
> = {
  static: (directory, ports, sizes) => `
  open_file_cache max=1000 inactive=600s;
  server {
    listen 127.0.0.1:${ports.static} backlog=4096 reuseport;
    root ${directory}/files;
${sizes.map(({ prefix }) => `    location ~ ^/[^/]+/${prefix} { try_files /${prefix} =404; }`).join('\n')}
    location / { return 404; }
  }
`,
  cache: (directory, ports) => `
  ${cachePath(directory, 'cache')}
  upstream origin { server 127.0.0.1:${ports.static}; keepalive 64; }
  server {
    listen 127.0.0.1:${ports.cache} backlog=4096 reuseport;
    location / {
      proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_cache bench; proxy_cache_key $uri; proxy_cache_valid 200 60m; proxy_force_ranges on;
      ${bestBuffers}
    }
  }
`,
  slice: (directory, ports) => `
  ${cachePath(directory, 'slice')}
  upstream origin { server 127.0.0.1:${ports.static}; keepalive 64; }
  server {
    listen 127.0.0.1:${ports.slice} backlog=4096 reuseport;
    location / {
      slice 1m; proxy_set_header Range $slice_range;
      proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_cache bench; proxy_cache_key $uri$slice_range; proxy_cache_valid 200 206 60m;
      ${bestBuffers}
    }
  }
`,
  relay: (_, ports) => `
  upstream cache { server 127.0.0.1:${ports.cache}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${ports.relay} backlog=4096 reuseport;
    location / {
      proxy_pass http://cache; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_max_temp_file_size 0; proxy_buffer_size 80k; proxy_buffers 4 80k; proxy_busy_buffers_size 160k;
    }
  }
`,
};

export interface RunningNginx {
  /** One server of the four; for `relay` the processes of the cache behind it too. */
  peer(role: NginxRole): RunningPeer;
  stop(): Promise<void>;
}

/** Starts the four servers. `launch` is the command prefix that pins them to a processor. */
export async function startNginx(options: {
  readonly directory: string;
  readonly sizes: readonly KeySize[];
  readonly launch: readonly string[];
}): Promise<RunningNginx> {
  const { directory, sizes, launch } = options;
  mkdirSync(join(directory, 'files'), { recursive: true });
  for (const { prefix, bytes } of sizes) {
    writeFileSync(join(directory, 'files', prefix), Buffer.alloc(bytes, prefix));
  }
  const free = await freePorts(roles.length);
  const ports = Object.fromEntries(roles.map((role, at) => [role, free[at] ?? 0])) as Ports;
  const children = new Map<NginxRole, StartedChild>();
  for (const role of roles) {
    const file = join(directory, `${role}.conf`);
    const server = configs[role](directory, ports, sizes);
    writeFileSync(file, `${common(directory, role)}http {${http(directory, role)}${server}}\n`);
    const child = start(launch, ['nginx', '-c', file, '-p', directory]);
    child.stdout?.resume();
    children.set(role, child);
  }
  const pidsOf = (role: NginxRole): number[] => processTree(children.get(role)?.pid ?? 0);
  const stopAll = async (): Promise<void> => {
    await Promise.all([...children.values()].map(stop));
  };
  try {
    for (const role of roles) {
      await untilAnswers(ports[role], () => children.get(role)?.output() ?? '');
    }
  } catch (error) {
    await stopAll();
    throw error;
  }
  return {
    peer: (role) => ({
      port: ports[role],
      pids: () => (role === 'relay' ? [...pidsOf('relay'), ...pidsOf('cache')] : pidsOf(role)),
      stop: stopAll,
    }),
    stop: stopAll,
  };
}

/**
 * nginx as the peer to beat: one worker that caches files (the node's place), and one that relays to it (the gateway's
 * place), over keep-alive connections, in the settings that served it best when they were tried: with tcp_nopush the end of a
 * 64 KiB answer waits for a delayed acknowledgement, and smaller buffers cost the relay more calls. Its origin is a third server of the same process group that answers every key
 * from a few files, so priming it is cheap.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stop } from '../child.ts';

export interface NginxPorts {
  readonly relay: number;
  readonly cache: number;
  readonly origin: number;
}

/** The version of the installed nginx, or null. */
export function nginxVersion(): string | null {
  const run = spawnSync('nginx', ['-v'], { encoding: 'utf8' });
  return run.status === 0 ? (/nginx\/(\S+)/.exec(run.stderr)?.[1] ?? null) : null;
}

function common(directory: string, name: string, user: string): string {
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

function cacheConfig(directory: string, ports: NginxPorts, user: string): string {
  return `${common(directory, 'cache', user)}
http {${http(directory, 'cache')}
  proxy_cache_path ${directory}/cache levels=2:2 keys_zone=bench:64m max_size=64g inactive=60m use_temp_path=off;
  upstream origin { server 127.0.0.1:${ports.origin}; keepalive 64; }
  server {
    listen 127.0.0.1:${ports.cache} backlog=4096 reuseport;
    location / {
      proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_cache bench; proxy_cache_key $uri; proxy_cache_valid 200 60m;
      proxy_force_ranges on; proxy_max_temp_file_size 0; proxy_buffers 16 64k; proxy_buffer_size 16k; proxy_busy_buffers_size 256k;
    }
  }
}
`;
}

function relayConfig(directory: string, ports: NginxPorts, user: string): string {
  return `${common(directory, 'relay', user)}
http {${http(directory, 'relay')}
  upstream cache { server 127.0.0.1:${ports.cache}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${ports.relay} backlog=4096 reuseport;
    location / {
      proxy_pass http://cache; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_max_temp_file_size 0; proxy_buffer_size 80k; proxy_buffers 4 80k; proxy_busy_buffers_size 160k;
    }
  }
}
`;
}

function originConfig(directory: string, ports: NginxPorts, user: string): string {
  return `${common(directory, 'origin', user)}
http {${http(directory, 'origin')}
  server {
    listen 127.0.0.1:${ports.origin} backlog=4096;
    root ${directory}/files;
    location ~ ^/[^/]+/large- { try_files /large =404; }
    location / { try_files /small =404; }
  }
}
`;
}

export interface RunningNginx {
  readonly relay: ChildProcess;
  readonly cache: ChildProcess;
  stop(): Promise<void>;
}

/**
 * Starts the three servers. \`launch\` gives the command prefix that pins a server to a processor.
 * \`largeBytes\` and \`smallBytes\` are the sizes of objects whose key begins with "large-", and of all others.
 */
export async function startNginx(options: {
  readonly directory: string;
  readonly ports: NginxPorts;
  readonly largeBytes: number;
  readonly smallBytes: number;
  readonly launch: readonly string[];
}): Promise<RunningNginx> {
  const { directory, ports, launch } = options;
  mkdirSync(join(directory, 'files'), { recursive: true });
  writeFileSync(join(directory, 'files/large'), Buffer.alloc(options.largeBytes, 'large'));
  writeFileSync(join(directory, 'files/small'), Buffer.alloc(options.smallBytes, 'small'));
  // As root nginx would drop to a user that can't read a private temporary folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const configs = { origin: originConfig, cache: cacheConfig, relay: relayConfig };
  const started = Object.entries(configs).map(([name, config]) => {
    const file = join(directory, `${name}.conf`);
    writeFileSync(file, config(directory, ports, user));
    const command = [...launch, 'nginx', '-c', file, '-p', directory];
    return spawn(command[0] ?? 'nginx', command.slice(1), { stdio: ['ignore', 2, 2] });
  });
  const [origin, cache, relay] = started;
  const stopAll = async (): Promise<void> => {
    await Promise.all(started.map(stop));
  };
  for (const port of [ports.origin, ports.cache, ports.relay]) await untilAnswers(port);
  if (origin === undefined || cache === undefined || relay === undefined)
    throw new Error('unreachable');
  return { relay, cache, stop: stopAll };
}

/** Waits until something answers HTTP on a local port, ten seconds at most. */
async function untilAnswers(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    try {
      await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1000) });
      return;
    } catch {
      await sleep(50);
    }
  }
  throw new Error(`nothing answers on 127.0.0.1:${port}`);
}

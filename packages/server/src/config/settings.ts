/**
 * Every setting of s3-accelerator, in one table.
 *
 * One row is one key of the configuration file: its kind and range, its unit, its default, whether SIGHUP
 * reloads it, whether it is a secret, and its line of documentation. The type of the configuration, its
 * validation, docs/configuration.md and config/example.toml all come from here, so none can lag behind.
 */
import { maxHotReplicas } from '@s3-accelerator/core/read.ts';
import { clientRows } from './client-rows.ts';
import { bucketKeys, bucketOriginRows, originLimitRows, originRows } from './origin-rows.ts';
import type { ReadRows } from './row.ts';
import {
  address,
  choice,
  endpoint,
  flag,
  integer,
  list,
  named,
  optionalTable,
  path,
  secret,
  size,
  table,
  text,
  texts,
} from './row.ts';

const kib = 2 ** 10;
const mib = 2 ** 20;
const gib = 2 ** 30;
const tib = 2 ** 40;
const minute = 60_000;
const day = 24 * 60 * minute;

export const mostLoops = 256;

const policyRows = {
  immutable: flag({
    default: false,
    reloadable: true,
    doc: 'Objects never change: metadata is never confirmed again, and `ttl_ms` has no effect.',
  }),
  ttl_ms: integer({
    min: 0,
    max: 365 * day,
    unit: 'ms',
    default: 5000,
    reloadable: true,
    doc: 'Metadata older than this is confirmed with S3 before it is used; 0 confirms every read.',
  }),
  admit_on_first_read: flag({
    default: false,
    reloadable: true,
    doc: 'Stores a block on its first read. For buckets that are nearly always reread.',
  }),
} as const;

const inherited = "`cache.default_policy`'s";

export const settings = {
  origin: optionalTable(
    'The default origin: where buckets without a table of their own come from. Needed with `[node]`, unless `[origins.<bucket>]` tables name every bucket.',
    originRows,
  ),
  origins: named(
    'The origin of one bucket, in place of the default origin.',
    { ...bucketKeys, exampleKey: 'assets' },
    bucketOriginRows,
  ),
  metadata: optionalTable(
    'A service that knows clients (for gateways) and origins (for nodes), beside those of this file. What the file has comes first. docs/metadata-service.md describes it.',
    {
      url: endpoint({
        need: 'required',
        example: '"http://10.0.1.5:9500"',
        doc: 'Where the service answers; a path is kept.',
      }),
      ca_file: path({
        need: 'optional',
        fallbackText: 'those that Node trusts',
        example: '"/etc/ssl/private-ca.pem"',
        doc: 'Certificates of the authorities that may vouch for an `https://` service, in PEM.',
      }),
      token: secret({
        need: 'required',
        example: '"..."',
        doc: 'The token that the service knows this process by.',
      }),
      refresh_s: integer({
        min: 1,
        max: 86_400,
        unit: 's',
        default: 60,
        doc: 'What the service takes back or changes is in force within this time. Clients in use are asked about twice as often.',
      }),
      keep_s: integer({
        min: 0,
        max: 7 * 86_400,
        unit: 's',
        default: 3600,
        doc: 'How old an answer may get while the service is down.',
      }),
    },
  ),
  cluster: optionalTable(
    'The processes that belong together. A process with both `[node]` and `[gateway]` may do without: it then is a cluster of its own.',
    {
      secret: secret({
        need: 'required',
        example: '"..."',
        doc: 'Shared by every process of the cluster, and proof that it belongs to it. Make it long and random.',
      }),
      nodes: list(
        'Storage nodes to find the cluster by. A gateway needs to name one that runs, better two. A node names itself and any that run: it joins them, and all others that the list names count no more. When none of them runs, it begins a cluster of the whole list.',
        {
          id: integer({
            min: 0,
            max: 65_535,
            need: 'required',
            example: '0',
            doc: "The node's id, its own in the cluster. Placement follows the id: a node that keeps it keeps its share.",
          }),
          address: address({
            need: 'required',
            example: '"10.0.1.10:9400"',
            doc: 'Where the node is reached.',
          }),
          weight: integer({
            min: 1,
            max: 1_000_000_000,
            default: 1,
            example: '3800',
            doc: "The node's share, such as its disk's size in GB. Equal weights are cheapest.",
          }),
        },
        { inline: true },
      ),
      down_grace_s: integer({
        min: 1,
        max: 86_400,
        unit: 's',
        default: 60,
        doc: 'How long a node that is down keeps its place in the ring. Longer than a restart takes, so that one moves no key. The same on all nodes.',
      }),
      fallback_window_s: integer({
        min: 1,
        max: 86_400,
        unit: 's',
        default: 600,
        doc: 'After a ring change, how long new owners ask the previous ones before S3, and how long a node that leaves goes on serving.',
      }),
      tcp: table(
        'TCP timers on links between processes of the cluster. They need Linux 6.15; an older kernel keeps its own.',
        {
          rto_min_us: integer({
            min: 0,
            max: 200_000,
            unit: 'µs',
            default: 5000,
            doc: "Resend a lost packet after this long at the least; 0 leaves the kernel's 200 ms.",
          }),
          delack_max_us: integer({
            min: 0,
            max: 200_000,
            unit: 'µs',
            default: 5000,
            doc: "Acknowledge within this time; 0 leaves the kernel's choice.",
          }),
        },
      ),
    },
  ),
  node: optionalTable('Makes the process a storage node.', {
    id: integer({
      min: 0,
      max: 65_535,
      need: 'required',
      example: '0',
      doc: "This node's id in `cluster.nodes`.",
    }),
    data_dir: path({
      need: 'required',
      example: '"/mnt/nvme/s3accel"',
      doc: 'The directory for cached blocks, best on local NVMe. Created when missing. One process uses it at a time.',
    }),
    listen: address({
      portZero: true,
      need: 'optional',
      fallbackText: "this node's address in `cluster.nodes`",
      example: '"0.0.0.0:9400"',
      doc: 'Where gateways and other nodes connect (TCP), and where the node gossips (UDP, the same port). Without an entry in `cluster.nodes`, also the address that others are told.',
    }),
    max_links: integer({
      min: 1,
      max: 1_000_000,
      unit: 'links',
      default: 4096,
      doc: 'Links from other processes at most; further ones are refused and counted.',
    }),
    max_readers: integer({
      min: 1,
      max: 1_000_000,
      unit: 'reads',
      default: 8192,
      doc: 'Reads that wait for S3 at most; further ones are answered `SlowDown`. Hits are not counted.',
    }),
    max_fetches: integer({
      min: 1,
      max: 65_536,
      unit: 'fetches',
      default: 128,
      doc: 'Fetches from S3 under way at most.',
    }),
    scrub_interval_s: integer({
      min: 0,
      max: 366 * 86_400,
      unit: 's',
      default: 7 * 86_400,
      doc: 'How long the node takes to verify everything that is stored once, in the background; 0 never does.',
    }),
    origin_limits: table("Limits of the node's traffic with origins.", originLimitRows),
  }),
  cache: table('What a storage node keeps. Only `[node]` processes use it.', {
    capacity_bytes: size({
      min: 64 * mib,
      max: 1024 * tib,
      default: 10 * gib,
      doc: 'Disk space for blocks, preallocated. About 80% of the drive is a good share.',
    }),
    fill_budget_bytes: size({
      min: 32 * mib,
      max: 64 * gib,
      default: 256 * mib,
      doc: 'Memory for bytes on their way from S3 to disk and to readers. Past it, misses stream without being stored.',
    }),
    metadata_entries: integer({
      min: 1000,
      max: 1_000_000_000,
      unit: 'entries',
      default: 1_000_000,
      doc: 'Objects whose metadata a node keeps in memory at most.',
    }),
    metadata_bytes: size({
      min: mib,
      max: 1024 * gib,
      default: 512 * mib,
      doc: "Memory for those objects' headers at most.",
    }),
    doorkeeper_window_ms: integer({
      min: 1000,
      max: 30 * day,
      unit: 'ms',
      default: 10 * minute,
      doc: 'A block is stored when its second read comes within this time of its first, or up to twice that.',
    }),
    hot_threshold: integer({
      min: 1,
      max: 1_000_000_000,
      unit: 'reads',
      default: 1000,
      doc: 'Past this many reads a second an object, or a 16 MiB chunk of a large one, is hot: its owner lends it to other nodes, and gateways spread its reads. A read of a large range counts once for each block of 1 MiB.',
    }),
    hot_replicas: integer({
      min: 0,
      max: maxHotReplicas,
      unit: 'nodes',
      default: 2,
      doc: 'How many other nodes a hot object is lent to; 0 lends nothing.',
    }),
    lease_ms: integer({
      min: 100,
      max: 10 * minute,
      unit: 'ms',
      default: 10_000,
      doc: 'How long a hot object is lent for. While it has more than half of `hot_threshold`, all nodes together, it is lent anew.',
    }),
    default_policy: table('How buckets without a policy of their own are cached.', policyRows),
    buckets: named(
      'How one bucket is cached. What is left out comes from `[cache.default_policy]`.',
      { ...bucketKeys, exampleKey: 'tables' },
      {
        immutable: flag({
          need: 'optional',
          fallbackText: inherited,
          example: 'true',
          reloadable: true,
          doc: policyRows.immutable.doc,
        }),
        ttl_ms: integer({
          min: 0,
          max: 365 * day,
          unit: 'ms',
          need: 'optional',
          fallbackText: inherited,
          example: '60000',
          reloadable: true,
          doc: policyRows.ttl_ms.doc,
        }),
        admit_on_first_read: flag({
          need: 'optional',
          fallbackText: inherited,
          example: 'true',
          reloadable: true,
          doc: policyRows.admit_on_first_read.doc,
        }),
      },
    ),
  }),
  clients: list(
    'A client: the keys it signs with, and what it may do. A gateway needs at least one, here or from `[metadata]`.',
    clientRows,
    { inline: false },
  ),
  gateway: optionalTable('Makes the process a gateway, which S3 clients connect to.', {
    listen: address({
      portZero: true,
      need: 'required',
      example: '"127.0.0.1:9000"',
      doc: 'Where S3 clients connect.',
    }),
    region: text({
      pattern: /^[a-z0-9-]{1,64}$/,
      allowed: 'a region name in lower case',
      need: 'optional',
      fallbackText: '`origin.region`, else `us-east-1`',
      example: '"us-east-1"',
      doc: 'The region that clients sign for. One that signs for another is told this one; `auto` is always taken.',
    }),
    domains: texts({
      pattern:
        /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/,
      allowed: 'a host name in lower case, without a port',
      most: 64,
      default: [],
      example: '["s3.example.com"]',
      doc: 'Host names below which buckets are named by the host: `bucket.s3.example.com/key` is `s3.example.com/bucket/key`. DNS must lead `*.s3.example.com` here. Path style always works.',
    }),
    loops: integer({
      min: 1,
      max: mostLoops,
      need: 'optional',
      fallbackText: 'one for each processor core',
      example: '4',
      doc: 'Event loops, each a thread with its own connections, metadata and links. The kernel spreads connections over them: have several times as many. The other limits of this table hold for each loop, `max_connections` for all together.',
    }),
    max_connections: integer({
      min: 1,
      max: 1_000_000,
      unit: 'connections',
      default: 16_384,
      doc: 'Connections from clients at most; further ones are answered `SlowDown` and counted.',
    }),
    keep_alive_ms: integer({
      min: 1000,
      max: day,
      unit: 'ms',
      default: 75_000,
      doc: 'How long an idle connection is kept. Longer than the idle time of a load balancer in front.',
    }),
    head_timeout_ms: integer({
      min: 100,
      max: 10 * minute,
      unit: 'ms',
      default: 30_000,
      doc: "How long a request's head may take to arrive.",
    }),
    body_idle_ms: integer({
      min: 100,
      max: 60 * minute,
      unit: 'ms',
      default: 60_000,
      doc: 'How long a client may send nothing within a body, or take nothing of an answer.',
    }),
    max_reads: integer({
      min: 1,
      max: 1_000_000,
      unit: 'reads',
      default: 4096,
      doc: 'Client reads under way at most; further ones are answered `SlowDown`.',
    }),
    metadata_entries: integer({
      min: 100,
      max: 100_000_000,
      unit: 'entries',
      default: 200_000,
      doc: 'Objects whose metadata the gateway keeps in memory at most.',
    }),
    metadata_bytes: size({
      min: mib,
      max: 64 * gib,
      default: 128 * mib,
      doc: "Memory for those objects' headers at most.",
    }),
    metadata_ttl_ms: integer({
      min: 0,
      max: 60 * minute,
      unit: 'ms',
      default: 1000,
      doc: "How long the gateway uses metadata without asking the object's home again, never beyond the bucket's own `ttl_ms`. Immutable buckets don't expire.",
    }),
    read_ahead_bytes: size({
      min: 64 * 1024,
      max: gib,
      default: 8 * mib,
      doc: 'How much of an object one read asks its owners for ahead of what its client has taken. It starts at a block and doubles while the client keeps up.',
    }),
    max_ahead_bytes: size({
      min: 0,
      max: tib,
      default: 256 * mib,
      doc: 'The same over all clients of the gateway together; past it each read asks for one block at a time.',
    }),
    small_answer_bytes: size({
      min: 0,
      max: mib,
      default: 32 * kib,
      doc: 'Answers up to this size share multiplexed links and are copied; larger ones take a link of their own and stay in the kernel.',
    }),
    multiplexed_links: integer({
      min: 1,
      max: 64,
      unit: 'links',
      default: 1,
      doc: 'Links to each node that carry many small answers at a time.',
    }),
    exclusive_links: integer({
      min: 1,
      max: 1024,
      unit: 'links',
      default: 16,
      doc: 'Links to each node that carry one large answer at a time, at most.',
    }),
    forward_links: integer({
      min: 1,
      max: 4096,
      unit: 'links',
      default: 64,
      doc: 'Links to each node that carry one passed-through request at a time, at most.',
    }),
    debug_headers: flag({
      default: false,
      doc: 'Every answer says in `x-accel-cache`, `x-accel-age` and `x-accel-node` how the cache took part in it. Otherwise only those do whose request has the header `x-accel-debug: 1`.',
    }),
    read_timeout_ms: integer({
      min: 10,
      max: 10 * minute,
      unit: 'ms',
      default: 30_000,
      doc: "A node that hasn't answered a read by then is treated as gone.",
    }),
  }),
  admin: optionalTable('Metrics and health checks over HTTP.', {
    listen: address({
      portZero: true,
      need: 'required',
      example: '"10.0.1.10:9401"',
      doc: 'Where `/metrics`, `/healthz` and `/readyz` are served, without a password: keep it on a private address.',
    }),
  }),
  log: table('The log: one JSON object a line, on standard error.', {
    level: choice(['trace', 'debug', 'info', 'warn', 'error'], {
      default: 'info',
      reloadable: true,
      doc: 'The least severe lines that are written.',
    }),
  }),
} as const;

/** The configuration as the file has it, with defaults filled in. */
export type Settings = ReadRows<typeof settings>;

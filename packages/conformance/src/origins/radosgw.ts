/**
 * Ceph's RADOS Gateway on this machine, for a short life: one monitor, one object store in memory, one gateway. It needs neither
 * root nor systemd. Its programs are those on the PATH, or out of Debian's packages.
 *
 * Everything it writes is in a temporary folder, every port is picked by the kernel, every process is ended by its pid.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answers, Child, run, type Environment } from './child.ts';
import { isOnPath, unpackedPackages } from './debian-packages.ts';
import { freePort } from './free-port.ts';
import type { StartedOrigin } from './started-origin.ts';

const packages = ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph-common'];
const memoryBytes = 4 * 1024 ** 3;
const credentials = {
  accessKeyId: 'conformance-identity',
  secretAccessKey: 'conformance-credential-of-one-run',
} as const;

interface Programs {
  readonly environment: Environment;
  /** Lines of the configuration that say where modules are, when the programs aren't installed. */
  readonly modules: string;
}

/** @throws when there are no such programs to be had, or they don't come up */
export async function startRadosgw(): Promise<StartedOrigin> {
  const programs = await findPrograms();
  const folder = mkdtempSync(join(tmpdir(), 'radosgw-'));
  const children: Child[] = [];
  const stop = async (): Promise<void> => {
    for (const child of children.toReversed()) await child.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const endpoint = await startAll(folder, programs, children);
    const site = { endpoint, region: 'us-east-1', credentials };
    return { name: 'radosgw', ...site, checksumTrailers: false, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Why there is none on this machine and none to be had, in one line; null where there is one. */
export async function haveRadosgw(): Promise<string | null> {
  try {
    await findPrograms();
    return null;
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? '';
  }
}

async function findPrograms(): Promise<Programs> {
  const installed = ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph'].every(isOnPath);
  if (installed) return { environment: process.env, modules: '' };
  const { root, environment } = await unpackedPackages('radosgw', packages);
  const library = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const at = join(root, 'usr/lib', library);
  const modules = `osd_class_dir = ${at}/rados-classes
erasure_code_dir = ${at}/ceph/erasure-code
plugin_dir = ${at}/ceph
mgr_module_path = ${root}/usr/share/ceph/mgr`;
  return { environment, modules };
}

/** Starts monitor, store and gateway, each once the one before is up; @returns where S3 answers */
async function startAll(folder: string, programs: Programs, children: Child[]): Promise<string> {
  for (const one of ['mon', 'osd', 'rgw', 'run', 'log']) mkdirSync(join(folder, one));
  const [monitor, s3] = [await freePort(), await freePort()];
  const id = randomUUID();
  const file = join(folder, 'ceph.conf');
  writeFileSync(file, configuration(folder, id, monitor, s3, programs.modules));
  const environment = { ...programs.environment, CEPH_CONF: file };
  const ask = (...command: string[]): Promise<string> => run(command, environment);
  const start = (name: string, ...command: string[]): Child => {
    const child = new Child(name, command, environment);
    children.push(child);
    return child;
  };
  // Of the system's Python, whose version its modules were made for.
  const which = (await ask('sh', '-c', 'command -v ceph')).trim();
  const ceph = (...args: string[]): Promise<string> =>
    ask('/usr/bin/python3', which, '-c', file, '--connect-timeout', '30', ...args);

  const map = join(folder, 'monmap');
  const address = `[v2:127.0.0.1:${monitor}]`;
  const flags = ['--create', '--clobber', '--fsid', id, '--enable-all-features'];
  await ask('monmaptool', ...flags, '--addv', 'a', address, map);
  await ask('ceph-mon', '-c', file, '--mkfs', '-i', 'a', '--monmap', map);
  start('ceph-mon', 'ceph-mon', '-c', file, '-f', '-i', 'a');
  await ceph('mon', 'stat');

  const store = randomUUID();
  await ceph('osd', 'new', store);
  await ask('ceph-osd', '-c', file, '--mkfs', '-i', '0', '--osd-uuid', store);
  const osd = start('ceph-osd', 'ceph-osd', '-c', file, '-f', '-i', '0');
  await osd.until(async () => (await ceph('osd', 'stat')).includes('1 up'));

  const gateway = ['-c', file, '-n', 'client.rgw.a'];
  const user = ['user', 'create', '--uid=suite', '--display-name=suite'];
  const { accessKeyId, secretAccessKey } = credentials;
  const keys = [`--access-key=${accessKeyId}`, `--secret-key=${secretAccessKey}`];
  await ask('radosgw-admin', ...gateway, ...user, ...keys);
  const endpoint = `http://127.0.0.1:${s3}`;
  await start('radosgw', 'radosgw', '-f', ...gateway).until(() => answers(endpoint, true));
  return endpoint;
}

function configuration(
  folder: string,
  id: string,
  monitor: number,
  s3: number,
  modules: string,
): string {
  return `[global]
fsid = ${id}
mon_initial_members = a
mon_host = v2:127.0.0.1:${monitor}
public_addr = 127.0.0.1
ms_bind_ipv6 = false
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
auth_allow_insecure_global_id_reclaim = true
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_pool_default_pg_autoscale_mode = off
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
mon_max_pg_per_osd = 2000
osd_crush_chooseleaf_type = 0
admin_socket = ${folder}/run/$name.asok
run_dir = ${folder}/run
crash_dir = ${folder}/log
log_file = ${folder}/log/$name.log
pid_file =
debug_ms = 0
${modules}
[mon]
mon_data = ${folder}/mon
mon_data_avail_crit = 1
mon_data_avail_warn = 2
[osd]
osd_data = ${folder}/osd
osd_objectstore = memstore
memstore_device_bytes = ${memoryBytes}
osd_max_object_name_len = 2048
osd_op_num_shards = 2
osd_memory_target = 1073741824
[client.rgw.a]
rgw_data = ${folder}/rgw
rgw_frontends = beast endpoint=127.0.0.1:${s3}
rgw_dns_name = localhost
rgw_thread_pool_size = 32
rgw_enable_usage_log = false
rgw_enable_gc_threads = true
rgw_run_sync_thread = false
ms_mon_client_mode = crc
ms_client_mode = crc
`;
}

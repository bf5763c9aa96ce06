/**
 * The command line of `s3-accelerator`, and the life of the process around it.
 *
 * It loads and checks the configuration, has the process started by the callback it is given, and then turns signals
 * into calls: SIGTERM and SIGINT stop, SIGHUP reloads, SIGUSR1 leaves the cluster. Exit codes: 0 stopped as asked, 1 failed while running, 2 the
 * command or the configuration is wrong, before anything was started or created.
 */
import { parseArgs } from 'node:util';
import { argumentError } from './config/argument-error.ts';
import { checkMachine } from './config/check-machine.ts';
import type { Config, LoadedConfig } from './config/config.ts';
import { loadConfig } from './config/config.ts';
import { formatAddress } from './config/address.ts';
import { ConfigError } from './config/problems.ts';
import { needRestart } from './config/reload.ts';
import { roundSize } from './config/sizes.ts';
import type { Log } from './log.ts';
import { createLog } from './log.ts';
import { version } from './version.ts';

/** A process that serves. */
export interface Running {
  /** Resolves when the process can't go on, with the reason. */
  readonly failed: Promise<string>;
  /**
   * SIGUSR1: gives the node's place in the ring up, goes on serving, and resolves when it may end; false when there is nothing
   * to leave.
   */
  leave(): Promise<boolean>;
  /** Takes over what SIGHUP may change: clients, grants, bucket policies, origins. Resolves when it is in force. */
  reload(config: Config): Promise<void>;
  /** Finishes what is under way and releases everything. */
  stop(): Promise<void>;
}

/** Rejects when it can't start, or once `signal` is aborted before it has: nothing is left then that has to be ended. */
export type Start = (
  config: Config,
  log: Log,
  options: { readonly signal: AbortSignal },
) => Promise<Running>;

const usage = `Usage: s3-accelerator CONFIG.toml
       s3-accelerator --check-config CONFIG.toml

A read cache for S3 on local NVMe. CONFIG.toml says what this process is: a [node] table makes it a
storage node, a [gateway] table a gateway, both make it both.

  --check-config   read and check the file, print what it makes of the process, and exit
  --version        print the version and exit
  --help           print this and exit

Signals: SIGTERM and SIGINT finish the answers under way and exit. SIGHUP reads the file again and applies
its clients, grants, bucket policies, origins and log level; a file with problems changes nothing. SIGUSR1
makes a node leave its cluster: it gives its keys up, serves what it holds for cluster.fallback_window_s, and exits.

Every setting: docs/configuration.md. An example of each: config/example.toml.
`;

type Command =
  | { readonly kind: 'run' | 'check'; readonly file: string }
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'wrong'; readonly why: string };

/** Runs the program with these arguments (without `node` and the script). Sets the exit code; resolves when all is done. */
export async function runCommandLine(argv: readonly string[], start: Start): Promise<void> {
  const command = parseCommand(argv);
  switch (command.kind) {
    case 'print':
      process.stdout.write(command.text);
      return;
    case 'wrong':
      process.stderr.write(`s3-accelerator: ${command.why}\n\n${usage}`);
      process.exitCode = 2;
      return;
    case 'check':
      checkOnly(command.file);
      return;
    case 'run':
      await run(command.file, start);
  }
}

function parseCommand(argv: readonly string[]): Command {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        'check-config': { type: 'boolean', default: false },
        version: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    return { kind: 'wrong', why: argumentError(error) };
  }
  const { values, positionals } = parsed;
  if (values.help) return { kind: 'print', text: usage };
  if (values.version) return { kind: 'print', text: `s3-accelerator ${version}\n` };
  const [file, ...more] = positionals;
  if (file === undefined) return { kind: 'wrong', why: 'which CONFIG.toml?' };
  if (more.length > 0) return { kind: 'wrong', why: 'one CONFIG.toml, not several' };
  return { kind: values['check-config'] ? 'check' : 'run', file };
}

/** Loads the file; problems go to standard error and make the exit code 2. */
function load(file: string): LoadedConfig | undefined {
  try {
    return loadConfig(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    refuse(error);
    return undefined;
  }
}

function refuse(error: ConfigError): void {
  process.stderr.write(`${error.message}\nEvery setting: docs/configuration.md\n`);
  process.exitCode = 2;
}

function checkOnly(file: string): void {
  const loaded = load(file);
  if (loaded === undefined) return;
  const warnings = loaded.warnings.map((warning) => `  warning: ${warning}\n`);
  process.stdout.write(
    `${file}: ok\n  ${summary(loaded.config).join('\n  ')}\n${warnings.join('')}`,
  );
}

function summary({ node, gateway, admin, cluster, cache, clients }: Config): string[] {
  const lines: string[] = [];
  if (gateway !== undefined) {
    const who = clients.length === 1 ? '1 client' : `${clients.length} clients`;
    const loops = gateway.loops === 1 ? '1 loop' : `${gateway.loops} loops`;
    lines.push(`gateway on ${formatAddress(gateway.listen)} for ${who}, ${loops}`);
  }
  if (node !== undefined) {
    const where = node.listen === undefined ? '' : ` on ${formatAddress(node.listen)}`;
    lines.push(`node ${node.id}${where}, ${roundSize(cache.capacityBytes)} in ${node.dataDir}`);
    lines.push(hotObjects(cache));
  }
  lines.push(cluster === undefined ? 'no cluster' : `cluster of ${cluster.nodes.length}`);
  if (admin !== undefined) lines.push(`admin on ${formatAddress(admin.listen)}`);
  return lines;
}

function hotObjects({ hotReplicas, hotThreshold, leaseMs }: Config['cache']): string {
  if (hotReplicas === 0) return 'hot objects are lent to no other node';
  const others = hotReplicas === 1 ? '1 other node' : `${hotReplicas} other nodes`;
  return `hot past ${hotThreshold} reads a second: lent to ${others} for ${leaseMs} ms`;
}

async function run(file: string, start: Start): Promise<void> {
  const loaded = load(file);
  if (loaded === undefined) return;
  const { config, warnings } = loaded;
  const problems = await checkMachine(config);
  if (problems.length > 0) {
    refuse(new ConfigError(file, problems));
    return;
  }
  const log = createLog(config.log.level);
  for (const warning of warnings) log.warn({ file }, warning);
  log.info({ version, node: process.version, file }, `starting: ${summary(config).join('; ')}`);
  const stopping = new AbortController();
  const stopAsked = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        resolve(signal);
        stopping.abort();
      });
    }
  });
  // Also before there is anything to leave or to reload: without listeners, Node would open its debugger, and end.
  let askLeave: (value: 'leave') => void = () => undefined;
  const leaveAsked = new Promise<'leave'>((resolve) => (askLeave = resolve));
  process.on('SIGUSR1', () => {
    askLeave('leave');
  });
  let askReload: () => void = () => undefined;
  const reloadAsked = new Promise<void>((resolve) => (askReload = resolve));
  process.on('SIGHUP', () => {
    askReload();
  });
  let running: Running;
  try {
    running = await start(config, log, stopping);
  } catch (error) {
    if (stopping.signal.aborted) {
      log.info('stopped before it had started');
      process.exit(0);
    }
    log.fatal({ error: (error as Error).message }, 'could not start');
    log.debug({ err: error }, 'could not start');
    process.exit(1);
  }
  const reloadNow = (): void => void reload(file, config, running, log);
  askReload = reloadNow;
  void reloadAsked.then(reloadNow);
  log.info('started');
  const left = leaveAsked.then(() => leave(running, log));
  const failure = running.failed.then((why) => ({ why }));
  const end = await Promise.race([stopAsked, left, failure]);
  if (typeof end === 'string') log.info({ signal: end }, 'stopping');
  else log.error({ why: end.why }, 'stopping: this process must not go on');
  await running.stop();
  log.info('stopped');
  process.exit(typeof end === 'string' ? 0 : 1);
}

/** Resolves when the node may end; never, when there is nothing to leave. */
async function leave(running: Running, log: Log): Promise<'SIGUSR1'> {
  log.info({ signal: 'SIGUSR1' }, 'leaving the cluster');
  if (await running.leave()) return 'SIGUSR1';
  return new Promise(() => undefined);
}

/** Applies what the file says now. `started` is what the process was started with: some of it stays in force. */
async function reload(file: string, started: Config, running: Running, log: Log): Promise<void> {
  let wanted: LoadedConfig;
  try {
    wanted = loadConfig(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log.error({ file, problems: error.problems }, 'reload: the file has problems; nothing changed');
    return;
  }
  for (const warning of wanted.warnings) log.warn({ file }, warning);
  const waiting = needRestart(started, wanted.config);
  if (waiting.length > 0) {
    log.warn({ file, settings: waiting }, 'reload: these settings wait for a restart');
  }
  await running.reload(wanted.config);
  log.level = wanted.config.log.level;
  log.info({ file }, 'reloaded');
}

/**
 * `s3-accelerator-metadata CONFIG.toml`: the reference metadata service.
 *
 * SIGHUP reads the file again; a file with problems changes nothing. SIGTERM and SIGINT stop. Exit codes: 0 stopped as asked, 1
 * failed, 2 the command or the configuration is wrong.
 */
import { readFileSync } from 'node:fs';
import { ConfigError } from 's3-accelerator/config/problems.ts';
import { createLog, type Log } from 's3-accelerator/log.ts';
import { Directory } from './directory.ts';
import { startService, type Certificate } from './service.ts';
import { loadSettings, type LoadedSettings, type Settings } from './settings.ts';

const usage = `Usage: s3-accelerator-metadata CONFIG.toml

Tells s3-accelerator processes which clients and origins there are. docs/metadata-service.md has the file and the API.
Signals: SIGTERM and SIGINT stop it. SIGHUP reads the file again; a file with problems changes nothing.
`;

function reload(file: string, log: Log): LoadedSettings | null {
  try {
    const loaded = loadSettings(file);
    for (const warning of loaded.warnings) log.warn({ file }, warning);
    log.level = loaded.settings.log.level;
    return loaded;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log.error({ file, problems: error.problems }, 'reload: the file has problems; nothing changed');
    return null;
  }
}

/** What the files hold that the settings name; null for none. Fails when they can't be read. */
function certificateOf({ service: { certFile, keyFile } }: Settings): Certificate | null {
  if (certFile === undefined || keyFile === undefined) return null;
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}

async function run(file: string): Promise<void> {
  let loaded: LoadedSettings;
  try {
    loaded = loadSettings(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
    return;
  }
  const { settings, warnings } = loaded;
  const log = createLog(settings.log.level);
  for (const warning of warnings) log.warn({ file }, warning);
  let directory = new Directory(settings);
  const certificate = certificateOf(settings);
  const service = await startService(settings.service.listen, certificate, () => directory);
  log.info({ at: service.at, tls: certificate !== null, keys: directory.clients }, 'listening');
  process.on('SIGHUP', () => {
    const wanted = reload(file, log);
    if (wanted === null) return;
    directory = new Directory(wanted.settings);
    log.info({ file, keys: directory.clients }, 'reloaded');
  });
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, resolve);
  });
  log.info({ signal }, 'stopping');
  await service.close();
}

const [file, ...more] = process.argv.slice(2);
if (file === '--help' || file === '-h') {
  process.stdout.write(usage);
} else if (file === undefined || more.length > 0 || file.startsWith('-')) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  await run(file).catch((error: unknown) => {
    process.stderr.write(`s3-accelerator-metadata: ${(error as Error).message}\n`);
    process.exitCode = 1;
  });
}

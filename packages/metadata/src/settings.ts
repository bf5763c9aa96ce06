/**
 * The configuration of the metadata service: where it listens, who may ask what, and the clients and origins that it tells.
 *
 * Clients and origins are written as in the configuration of s3-accelerator itself, and checked by the same rows.
 */
import { readFileSync } from 'node:fs';
import { TomlError, parse } from 'smol-toml';
import { checkClients, checkOrigins } from 's3-accelerator/config/check-settings.ts';
import { clientRows } from 's3-accelerator/config/client-rows.ts';
import { bucketKeys, bucketOriginRows, originRows } from 's3-accelerator/config/origin-rows.ts';
import { ConfigError, Problems } from 's3-accelerator/config/problems.ts';
import { readDocument, type Unsure } from 's3-accelerator/config/read-rows.ts';
import {
  address,
  choice,
  list,
  named,
  optionalTable,
  path,
  secret,
  table,
  type ReadRows,
} from 's3-accelerator/config/row.ts';

const rows = {
  service: table('The service itself.', {
    listen: address({
      portZero: true,
      need: 'required',
      doc: 'Where it answers. Without a certificate that is over plain HTTP: keep it on a private address then.',
    }),
    cert_file: path({
      need: 'optional',
      fallbackText: 'plain HTTP',
      example: '"/etc/s3-accelerator/metadata.pem"',
      doc: 'The certificate to answer over TLS with, and what it was signed by, in PEM. Read at the start.',
    }),
    key_file: path({
      need: 'optional',
      fallbackText: 'plain HTTP',
      example: '"/etc/s3-accelerator/metadata-key.pem"',
      doc: 'Its private key, in PEM. Goes with `cert_file`.',
    }),
  }),
  tokens: list(
    'Who may ask. At least one.',
    {
      token: secret({
        need: 'required',
        reloadable: true,
        doc: 'What the asking process sends as its bearer token.',
      }),
      answers: choice(['all', 'clients', 'origins'], {
        default: 'all',
        reloadable: true,
        doc: '`clients` is what gateways need, `origins` (with their credentials) what nodes need.',
      }),
    },
    { inline: false },
  ),
  origin: optionalTable('The default origin.', originRows),
  origins: named('Origins by bucket.', { ...bucketKeys, exampleKey: 'assets' }, bucketOriginRows),
  clients: list('Clients: their keys, and what they may do.', clientRows, { inline: false }),
  log: table('The log.', {
    level: choice(['debug', 'info', 'warn', 'error'], {
      default: 'info',
      reloadable: true,
      doc: 'The least severe lines that are written.',
    }),
  }),
} as const;

export type Settings = ReadRows<typeof rows>;

export interface LoadedSettings {
  readonly settings: Settings;
  readonly warnings: readonly string[];
}

/** A token must not be guessable: with one, everybody's signing keys can be had. */
const leastTokenCharacters = 16;

/** Reads a file. Throws ConfigError with every problem, also when the file can't be read. */
export function loadSettings(file: string): LoadedSettings {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(file, [`can't be read: ${(error as Error).message}`]);
  }
  return readSettings(text, file);
}

export function readSettings(text: string, file: string): LoadedSettings {
  const problems = new Problems();
  const read = readDocument(rows, parseToml(text, file), problems) as unknown as Unsure<Settings>;
  checkOrigins(read, problems);
  checkClients(read, problems);
  checkTokens(read, problems);
  checkCertificate(read, problems);
  if (problems.problems.length > 0) throw new ConfigError(file, problems.problems);
  // Without problems nothing required is missing.
  return { settings: read as unknown as Settings, warnings: problems.warnings };
}

/** Half of them must not have it answer in the clear. */
function checkCertificate({ service }: Unsure<Settings>, problems: Problems): void {
  const { certFile, keyFile } = service;
  if ((certFile === undefined) === (keyFile === undefined)) return;
  const [missing, given] = certFile === undefined ? ['cert', 'key'] : ['key', 'cert'];
  problems.add(`service.${missing}_file: missing; service.${given}_file needs it`);
}

function checkTokens({ tokens }: Unsure<Settings>, problems: Problems): void {
  if (tokens?.length === 0) problems.add('[[tokens]]: missing; without one nobody could ask');
  for (const [at, { token }] of (tokens ?? []).entries()) {
    if (token === undefined) continue;
    if (token.length < leastTokenCharacters) {
      problems.add(`tokens[${at}].token: shorter than ${leastTokenCharacters} characters`);
    }
    // It travels in a header.
    if (!/^[\x21-\x7e]+$/.test(token.reveal())) {
      problems.add(`tokens[${at}].token: must be printable ASCII without spaces`);
    }
  }
}

/** The parser's own message quotes the line, which may hold a secret: only its first line is kept. */
function parseToml(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new ConfigError(file, [
      `line ${error.line}, column ${error.column}: ${error.message.split('\n')[0]!}`,
    ]);
  }
}

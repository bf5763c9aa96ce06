// The service over TLS: whoever asks it knows it by an authority of their own, and nobody takes it on trust.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { certificate, certificateKey } from '@s3-accelerator/load/testing/tls-front.ts';
import { Secret } from 's3-accelerator/config/secret.ts';
import { ConfigError } from 's3-accelerator/config/problems.ts';
import { MetadataService } from 's3-accelerator/metadata-client/metadata-service.ts';
import { readSettings } from './settings.ts';
import { startMetadata, type MetadataProgram } from './testing/metadata-program.ts';

const rest = `
[[tokens]]
token = "the-token-over-tls"
[origin]
endpoint = "http://127.0.0.1:1"
region = "us-east-1"
`;

suite('the metadata service over TLS', () => {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-metadata-tls-'));
  const caFile = join(directory, 'cert.pem');
  let service: MetadataProgram;

  before(async () => {
    writeFileSync(caFile, certificate);
    writeFileSync(join(directory, 'key.pem'), certificateKey);
    const files = `cert_file = "${caFile}"\nkey_file = "${directory}/key.pem"`;
    service = await startMetadata(directory, rest, 0, files);
  });
  after(async () => {
    await service.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  async function ask(ca: string | undefined): Promise<string | undefined> {
    const url = service.url.replace('http://127.0.0.1', 'https://localhost');
    const token = new Secret('the-token-over-tls');
    const asking = new MetadataService({ url, token, caFile: ca });
    try {
      return (await asking.origins()).origin?.endpoint;
    } finally {
      await asking.close();
    }
  }

  test('with the authority that vouches for it it is believed', async () => {
    assert.equal(await ask(caFile), 'http://127.0.0.1:1');
  });

  test('without, it is not, and it answers nobody in the clear', async () => {
    await assert.rejects(ask(undefined), /certificate/);
    await assert.rejects(fetch(`${service.url}/healthz`));
  });

  test('an authority that is no certificate is refused by name', () => {
    const token = new Secret('the-token-over-tls');
    const asking = (file: string) => () =>
      new MetadataService({ url: service.url, token, caFile: file });
    assert.throws(asking(join(directory, 'key.pem')), /key\.pem has no certificate/);
    assert.throws(asking(join(directory, 'none.pem')), /none\.pem can't be read: ENOENT/);
  });

  test('a certificate without its key is refused, and the other way round', () => {
    for (const half of ['cert', 'key']) {
      const text = `[service]\nlisten = "127.0.0.1:1"\n${half}_file = "/x"\n${rest}`;
      const problem = new RegExp(`${half}_file needs it`);
      assert.throws(
        () => readSettings(text, 'metadata.toml'),
        (error) => error instanceof ConfigError && problem.test(error.message),
      );
    }
  });
});

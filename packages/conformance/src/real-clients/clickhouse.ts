/** ClickHouse, by the Python package that has all of it but the server: files of tables, and a disk of its own. */
import { join } from 'node:path';
import { run } from '../origins/child.ts';
import { credentialEnvironment } from './credential-environment.ts';
import type { RealClient } from './real-client.ts';

const withinMs = 300_000;
const script = join(import.meta.dirname, 'clickhouse-client.py');
const ask = 'import chdb; print("ClickHouse", chdb.engine_version, "chdb", chdb.__version__)';

export const clickHouse: RealClient = {
  name: 'clickhouse',
  async find() {
    return {
      version: (await run(['python3', '-c', ask])).trim(),
      roundTrip: async ({ bucket, folder, site }) => {
        const environment = credentialEnvironment(process.env, site.credentials);
        const words = [site.endpoint, bucket, join(folder, 'tables')];
        await run(['python3', script, ...words], environment, withinMs);
      },
    };
  },
};

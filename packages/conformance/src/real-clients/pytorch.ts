/** PyTorch with Amazon's connector for S3, which is its runtime in C: datasets and checkpoints. */
import { join } from 'node:path';
import { run } from '../origins/child.ts';
import { credentialEnvironment } from './credential-environment.ts';
import type { RealClient } from './real-client.ts';

const withinMs = 300_000;
const script = join(import.meta.dirname, 'pytorch-client.py');
const ask =
  'import torch, s3torchconnector as s3; print("torch", torch.__version__, "s3torchconnector", s3.__version__)';

export const pyTorch: RealClient = {
  name: 'pytorch',
  async find() {
    return {
      version: (await run(['python3', '-c', ask])).trim(),
      roundTrip: async ({ bucket, site }) => {
        const environment = credentialEnvironment(process.env, site.credentials);
        await run(['python3', script, site.endpoint, bucket], environment, withinMs);
      },
    };
  },
};

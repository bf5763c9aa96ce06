/** An environment in which S3 tools find one endpoint's credentials, and nothing of their user's settings. */
import type { Environment } from '../origins/child.ts';
import type { Credentials } from '../signed-request.ts';

export function credentialEnvironment(
  environment: Environment,
  { accessKeyId, secretAccessKey }: Credentials,
): Environment {
  return {
    ...environment,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_REGION: 'us-east-1',
    AWS_EC2_METADATA_DISABLED: 'true',
    // The endpoint is plain HTTP, and some tools stumble over a bundle that they can't use.
    AWS_CA_BUNDLE: undefined,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    LC_ALL: 'C.UTF-8',
    PYTHONIOENCODING: 'utf-8',
  };
}

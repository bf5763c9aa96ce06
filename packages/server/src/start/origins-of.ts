/** Origins as the S3 client knows them, out of the configuration. */
import type { BucketOriginConfig, Config, OriginConfig } from '../config/config.ts';
import { Origins, type OriginSettings } from '../origin/origins.ts';

function settingsOf(
  { accessKeyId, secretAccessKey, sessionToken, ...rest }: OriginConfig | BucketOriginConfig,
  limits: NonNullable<OriginSettings['limits']>,
): OriginSettings {
  return {
    endpoint: rest.endpoint,
    region: rest.region,
    checksumTrailers: rest.checksumTrailers,
    ...('bucket' in rest && rest.bucket !== undefined ? { bucket: rest.bucket } : {}),
    limits,
    credentials: {
      accessKeyId,
      secretAccessKey: secretAccessKey.reveal(),
      ...(sessionToken === undefined ? {} : { sessionToken: sessionToken.reveal() }),
    },
  };
}

export function originsOf(config: Config): Origins {
  const limits = config.node?.originLimits ?? {};
  const byBucket = [...config.origins].map(([bucket, origin]): [string, OriginSettings] => [
    bucket,
    settingsOf(origin, limits),
  ]);
  const fallback = config.origin === undefined ? null : settingsOf(config.origin, limits);
  return new Origins(fallback, byBucket);
}

/**
 * AWS's default chain of places that credentials come from: environment, profiles (also SSO and processes), web identity,
 * container, instance. The first place that has any wins.
 *
 * AWS's own library walks it, since each place has rules that only that library follows in full. It is loaded when an origin
 * first needs it: a process whose origins all have keys never pays for it.
 */
import type { CredentialIssuer } from './credentials.ts';

/** Asks the chain anew each time. `region` is for the services that it talks to, unless the environment names another. */
export function defaultChain(region: string): CredentialIssuer {
  return async () => {
    const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
    const { AWS_REGION = region } = process.env;
    // Profiles are read again each time: they may have been edited since. `auto` is no region of AWS's.
    const isRegion = AWS_REGION !== 'auto';
    const provider = defaultProvider({
      ignoreCache: true,
      ...(isRegion ? { clientConfig: { region: AWS_REGION } } : {}),
    });
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await provider();
    return {
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      expiresAtMs: expiration?.getTime() ?? Infinity,
    };
  };
}

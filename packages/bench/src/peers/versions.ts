/** Which peers are installed. */
import { compilerVersion } from './floor.ts';
import { haproxyVersion } from './haproxy.ts';
import { nginxVersion } from './nginx.ts';
import { varnishVersion } from './varnish.ts';

/** Each peer's version by name, null where it isn't installed. */
export function peerVersions(): Readonly<Record<string, string | null>> {
  return {
    nginx: nginxVersion(),
    Varnish: varnishVersion(),
    HAProxy: haproxyVersion(),
    cc: compilerVersion(),
  };
}

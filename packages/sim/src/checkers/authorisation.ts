/**
 * Authorisation (SPEC §4.7): no credential gets a byte, or a word about an object, that its grants don't cover, whoever
 * else waits for the same bytes; nor does it change anything. What it may have is never denied.
 *
 * Grants are judged here by their definition, not by the program's table.
 */
import type { ClientAnswer } from '../history/client-answer.ts';
import type { ClientWrite } from '../history/client-write.ts';
import type { Credential } from '../history/credential.ts';
import type { History } from '../history/history.ts';
import type { Oracle } from '../oracle/oracle.ts';

/** Called once a read's answer has ended. */
export function checkReadAuthorisation(history: History, answer: ClientAnswer): string | null {
  const { status, code, errorOf } = answer;
  const { bucket, key } = answer.request;
  const credential = history.credentials[answer.credential]!;
  if (covers(credential, 'read', bucket, key)) {
    const isOurs = status === 403 && errorOf === -1;
    return isOurs ? `${credential.name} was denied what its grants cover` : null;
  }
  if (answer.received > 0) return `${credential.name} got bytes that its grants don't cover`;
  if (status === 0) return null;
  const isDenied = status === 403 && (code === 'AccessDenied' || answer.request.head);
  const { etag, size, lastModified } = answer;
  if (isDenied && etag === '' && size === -1 && lastModified === 0) return null;
  return `${credential.name} was told ${status} (${code}) about what its grants don't cover`;
}

/** Called once a write has ended, and again at the end of the run for what took effect later. */
export function checkWriteAuthorisation(history: History, write: ClientWrite): string | null {
  const credential = history.credentials[write.credential]!;
  const { bucket, keys, source, outcome } = write;
  const isAllowed =
    keys.every((key) => covers(credential, 'write', bucket, key)) &&
    (source === null || covers(credential, 'read', source.bucket, source.key));
  if (isAllowed) {
    return outcome === 'denied' ? `${credential.name} was denied a write that it may do` : null;
  }
  const what = `${write.operation} ${write.id} of ${credential.name}`;
  if (write.versions.length > 0) return `${what} changed what its grants don't cover`;
  const isSilent = outcome === 'open' || outcome === 'unknown';
  return isSilent || outcome === 'denied' ? null : `${what} ended ${outcome}, not denied`;
}

/** Called at the end: whatever changed through a client was that client's to change, and what it asked for. */
export function checkVersionsMade(history: History, oracle: Oracle): string | null {
  for (const states of oracle.objects()) {
    for (const version of states) {
      if (version.write === -1) continue;
      const write = history.writes[version.write];
      const isAskedFor =
        write !== undefined && write.bucket === version.bucket && write.keys.includes(version.key);
      if (!isAskedFor) return `${version.bucket}/${version.key} was changed by no write of it`;
      if (!write.versions.includes(version)) return `write ${write.id} doesn't know what it made`;
    }
  }
  return null;
}

function covers(
  credential: Credential,
  access: 'read' | 'write',
  bucket: string,
  key: string,
): boolean {
  return credential.grants.some((grant) => {
    if (grant.bucket !== '*' && grant.bucket !== bucket) return false;
    if (access === 'write' && grant.access === 'read') return false;
    return key.startsWith(grant.prefix);
  });
}

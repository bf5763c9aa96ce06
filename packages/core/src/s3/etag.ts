/**
 * Entity tags as S3 writes and compares them.
 *
 * An ETag is kept as the origin sent it: `"…"`, or `W/"…"` when weak. Clients of S3 also send them without quotes.
 */

/** Whether this ETag may name cached blocks: quoted, not weak, not empty. */
export function isStrongEtag(etag: string): boolean {
  return etag.length > 2 && etag.startsWith('"') && etag.indexOf('"', 1) === etag.length - 1;
}

function isWeak(etag: string): boolean {
  return etag.startsWith('W/"') || etag.startsWith('w/"');
}

/** The characters between the quotes of a tag that may be weak or unquoted. */
export function opaqueTag(etag: string): string {
  const quoted = isWeak(etag) ? etag.slice(2) : etag;
  return quoted.length >= 2 && quoted.startsWith('"') && quoted.endsWith('"')
    ? quoted.slice(1, -1)
    : quoted;
}

/** Where the list member that begins at `from` ends: commas within quotes belong to the tag. */
function memberEnd(list: string, from: number): number {
  let quoted = false;
  for (let at = from; at < list.length; at += 1) {
    const code = list.charCodeAt(at);
    if (code === 0x22) quoted = !quoted;
    else if (code === 0x2c && !quoted) return at;
  }
  return list.length;
}

function trim(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '');
}

/**
 * Whether a list of tags (`If-Match`, `If-None-Match`) contains `etag`, or is `*`. Members may be unquoted.
 * With `weakly`, `W/` is ignored on both sides; without it a weak tag on either side never matches.
 */
export function etagListMatches(list: string, etag: string, weakly: boolean): boolean {
  if (trim(list) === '*') return true;
  if (!weakly && isWeak(etag)) return false;
  const wanted = opaqueTag(etag);
  for (let from = 0; from <= list.length;) {
    const end = memberEnd(list, from);
    const member = trim(list.slice(from, end));
    if (member !== '' && (weakly || !isWeak(member)) && opaqueTag(member) === wanted) return true;
    from = end + 1;
  }
  return false;
}

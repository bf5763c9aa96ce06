/**
 * The query of a request's target, as S3 reads it.
 *
 * `+` is a space, as S3 and every form decoder have it; names are case-sensitive; a parameter without `=` has an empty
 * value; the raw text of each parameter is kept, so a query can be passed on byte for byte with some of them left out.
 */
import { percentDecode } from './percent-encoding.ts';

export interface QueryParameter {
  /** Decoded, a binary string. */
  readonly name: string;
  readonly value: string;
  /** As it was in the target. */
  readonly raw: string;
}

export const noParameters: readonly QueryParameter[] = [];

function decode(raw: string): string | null {
  return percentDecode(raw.includes('+') ? raw.replaceAll('+', ' ') : raw);
}

/** The parameters in their order, or null when one can't be decoded (`InvalidURI`). */
export function parseQuery(query: string | null): readonly QueryParameter[] | null {
  if (query === null || query === '') return noParameters;
  const parameters: QueryParameter[] = [];
  for (const raw of query.split('&')) {
    if (raw === '') continue;
    const equals = raw.indexOf('=');
    const name = decode(equals < 0 ? raw : raw.slice(0, equals));
    const value = equals < 0 ? '' : decode(raw.slice(equals + 1));
    if (name === null || value === null) return null;
    parameters.push({ name, value, raw });
  }
  return parameters;
}

/** The value of the first parameter of that name, or null. */
export function queryValue(parameters: readonly QueryParameter[], name: string): string | null {
  for (const parameter of parameters) if (parameter.name === name) return parameter.value;
  return null;
}

/** What a presigned request adds to its query; none of it may reach the origin. */
const authenticationNames: ReadonlySet<string> = new Set([
  'x-amz-algorithm',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-expires',
  'x-amz-signedheaders',
  'x-amz-signature',
  'x-amz-security-token',
  'x-amz-content-sha256',
]);

/** Whether a parameter belongs to the signature and not to the operation. */
export function isAuthenticationParameter(name: string): boolean {
  return authenticationNames.has(name.toLowerCase());
}

/** The raw query without its signature, to be signed anew for the origin; '' when nothing is left. */
export function queryForOrigin(parameters: readonly QueryParameter[]): string {
  return parameters
    .filter((parameter) => !isAuthenticationParameter(parameter.name))
    .map((parameter) => parameter.raw)
    .join('&');
}

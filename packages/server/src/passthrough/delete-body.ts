/**
 * The body of DeleteObjects on its way: collected, read, every key held against the client's grants, and written anew.
 *
 * Digests that came with it are checked here, since the body that goes on is another one and gets its own.
 */
import { createHash } from 'node:crypto';
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { authorizeKeys } from '../auth/grants.ts';
import type { GrantSet } from '../auth/grants.ts';
import { headerValue } from '../http/raw-headers.ts';
import { withoutDigests } from './body-headers.ts';
import { maxDeleteBytes, parseDeleteObjects } from './delete-objects.ts';
import type { ForwardRequest } from './forward.ts';

export interface DeleteForward {
  readonly request: ForwardRequest;
  readonly body: Buffer;
  /** The keys it deletes, for whom it is over once the origin has answered. */
  readonly keys: readonly string[];
}

export class DeleteBody {
  readonly #request: ForwardRequest;
  readonly #grants: GrantSet;
  readonly #parts: Buffer[] = [];

  /** `request` is the client's, with its own body's headers. */
  constructor(request: ForwardRequest, grants: GrantSet) {
    this.#request = request;
    this.#grants = grants;
  }

  static fits(length: number): boolean {
    return length <= maxDeleteBytes;
  }

  push(bytes: Uint8Array): void {
    this.#parts.push(Buffer.from(bytes));
  }

  /** Once it is whole: what goes on in its place, or why it doesn't. */
  finish(): DeleteForward | ErrorCode {
    const bytes = Buffer.concat(this.#parts);
    const md5 = headerValue(this.#request.headers, 'content-md5');
    if (md5 !== '' && md5 !== base64('md5', bytes)) return 'BadDigest';
    const list = parseDeleteObjects(bytes);
    if (list === null) return 'MalformedXML';
    const denied = authorizeKeys(this.#grants, this.#request.bucket, list.keys);
    if (denied !== null) return denied;
    const { body, keys } = list;
    const headers = [
      ...withoutDigests(this.#request.headers),
      'Content-MD5',
      base64('md5', body),
      'x-amz-content-sha256',
      createHash('sha256').update(body).digest('hex'),
    ];
    return { request: { ...this.#request, headers, bodyLength: body.length }, body, keys };
  }
}

function base64(algorithm: string, bytes: Uint8Array): string {
  return createHash(algorithm).update(bytes).digest('base64');
}

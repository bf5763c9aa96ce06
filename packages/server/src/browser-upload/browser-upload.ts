/**
 * One upload of a browser: a form that carries its own permission, and a file that becomes an object by a PUT.
 *
 *   fields ─▶ (signer looked up) ─▶ policy, signature, grants ─▶ small file: collected ─▶ PUT ─▶ answer
 *                                                              └▶ large file: streamed into the PUT as it comes
 *
 * While its signer is looked up, the form is paused; what had come already is held. Nothing is believed before the signature over the policy holds and the signer's grants cover the key. An origin is promised an
 * exact length: that of a large file is what the body leaves for it, if the form ends right behind the file as forms do. The
 * last promised byte is kept back until the form has ended so, and otherwise nothing is committed. Memory: `maxCollectedBytes`.
 */
import type { ErrorDetail } from '@s3-accelerator/core/s3/error-xml.ts';
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { maxKeyBytes } from '@s3-accelerator/core/s3/object-key.ts';
import type { GrantSet } from '../auth/grants.ts';
import type { PolicyClaim } from '../auth/sigv4.ts';
import { FormReader, type FormEvents } from './form-reader.ts';
import { headersOfForm, PostSuccess, withFileName, type FormFields } from './post-form.ts';
import { readPolicy, refusedByPolicy, type PostPolicy } from './post-policy.ts';

/** A body up to this length is collected, and may end as it likes. */
export const maxCollectedBytes = 262_144;
/** S3's limit on one upload. */
const maxObjectBytes = 5 * 1024 ** 3;

/** The PUT that the form has become. */
export interface FormWrite {
  readonly key: string;
  /** Name, value, … */
  readonly headers: readonly string[];
  readonly length: number;
  readonly grants: GrantSet;
  readonly success: PostSuccess;
}

export interface BrowserUploadEvents {
  /** Grants of whoever signed the policy, or why there are none; null when that takes a while: `signerKnown` is called then. */
  verify(claim: PolicyClaim): GrantSet | ErrorCode | null;
  /** Sends the PUT on its way; returns why it may not go. */
  begin(write: FormWrite): ErrorCode | null;
  /** Bytes of the object, `FormWrite.length` in all, then its end. */
  write(bytes: Uint8Array): void;
  finish(): void;
  /** The upload is over: nothing of it may be committed. */
  refuse(code: ErrorCode, details: readonly ErrorDetail[]): void;
}

export interface BrowserForm {
  readonly bucket: string;
  readonly boundary: string;
  /** Bytes of the body. */
  readonly contentLength: number;
  /** The Host header. */
  readonly authority: string;
  /** Since 1970. */
  readonly nowMs: number;
}

/** What was read of a form before its file. */
interface WaitingForm {
  readonly fields: FormFields;
  readonly claim: PolicyClaim;
  readonly formBytes: number;
}

export class BrowserUpload implements FormEvents {
  readonly #form: BrowserForm;
  readonly #events: BrowserUploadEvents;
  readonly #reader: FormReader;
  readonly #fields = new Map<string, string>();
  /** A small file's bytes; null while a large one is streamed. */
  #collected: Buffer[] | null;
  #write: Omit<FormWrite, 'length'> | null = null;
  #policy: PostPolicy | null = null;
  /** Bytes that the object was promised to have, and that came. */
  #length = 0;
  #received = 0;
  #lastByte: Uint8Array | null = null;
  /** The form up to its file, while its signer is looked up. */
  #waiting: WaitingForm | null = null;
  /** Bytes of a large file that came meanwhile: what was on its way when the body was paused. */
  #held: Buffer[] = [];
  #hasEnded = false;
  #isOver = false;

  constructor(form: BrowserForm, events: BrowserUploadEvents) {
    this.#form = form;
    this.#events = events;
    this.#reader = new FormReader(form.boundary, this);
    this.#collected = form.contentLength <= maxCollectedBytes ? [] : null;
  }

  push(bytes: Uint8Array): void {
    if (!this.#isOver && !this.#reader.push(bytes)) this.#refuse('MalformedPOSTRequest');
  }

  /** The body has ended. */
  end(): void {
    if (this.#isOver) return;
    this.#hasEnded = true;
    if (this.#waiting !== null) return;
    const isWhole = this.#reader.end();
    if (!isWhole || this.#write === null) this.#refuse('MalformedPOSTRequest');
    else if (this.#collected === null) this.#finishStream();
    else this.#sendCollected(this.#write, Buffer.concat(this.#collected));
  }

  /** The signer was looked up: `refusal` says why they aren't known, null that they are. */
  signerLookedUp(refusal: ErrorCode | null): void {
    const waiting = this.#waiting;
    if (this.#isOver || waiting === null) return;
    this.#waiting = null;
    const grants = refusal ?? this.#events.verify(waiting.claim) ?? 'ServiceUnavailable';
    const held = this.#held;
    this.#held = [];
    if (!this.#accept(waiting, grants)) return;
    for (const bytes of held) if (!this.onFileBytes(bytes)) return;
    if (this.#hasEnded) this.end();
  }

  onField(name: string, value: string): void {
    this.#fields.set(name, value);
  }

  onFile(fileName: string, formBytes: number): boolean {
    const fields = withFileName(this.#fields, fileName);
    const claim = claimOf(fields);
    if (claim === null) {
      // S3 would take a form without a policy for a public bucket. There are none here.
      this.#refuse(fields.has('awsaccesskeyid') ? 'InvalidRequest' : 'AccessDenied');
      return false;
    }
    const form = { fields, claim, formBytes };
    const grants = this.#events.verify(claim);
    if (grants !== null) return this.#accept(form, grants);
    this.#waiting = form;
    return true;
  }

  /** Goes on with a form whose signature was checked; false when it is refused. */
  #accept({ fields, claim, formBytes }: WaitingForm, grants: GrantSet | ErrorCode): boolean {
    const write = this.#judge(fields, claim, grants);
    if (write === null) return false;
    this.#write = write;
    if (this.#collected !== null) return true;
    this.#length = this.#form.contentLength - formBytes - this.#reader.closingBytes;
    if (this.#length <= 0) {
      this.#refuse('MalformedPOSTRequest');
      return false;
    }
    return this.#begin(write, this.#length);
  }

  onFileBytes(bytes: Uint8Array): boolean {
    if (this.#collected !== null) {
      this.#collected.push(Buffer.from(bytes));
      return true;
    }
    if (this.#waiting !== null) {
      this.#held.push(Buffer.from(bytes));
      return true;
    }
    this.#received += bytes.length;
    if (this.#received > this.#length) {
      this.#refuse('MalformedPOSTRequest');
      return false;
    }
    if (this.#received < this.#length) {
      this.#events.write(bytes);
    } else {
      this.#lastByte = Uint8Array.of(bytes[bytes.length - 1]!);
      if (bytes.length > 1) this.#events.write(bytes.subarray(0, bytes.length - 1));
    }
    return true;
  }

  onFileEnd(): void {
    // The body's own end has the last word.
  }

  #finishStream(): void {
    const last = this.#lastByte;
    if (this.#received !== this.#length || last === null) {
      this.#refuse('MalformedPOSTRequest');
      return;
    }
    this.#isOver = true;
    this.#events.write(last);
    this.#events.finish();
  }

  #sendCollected(write: Omit<FormWrite, 'length'>, file: Buffer): void {
    if (!this.#begin(write, file.length)) return;
    this.#isOver = true;
    if (file.length > 0) this.#events.write(file);
    this.#events.finish();
  }

  #begin(write: Omit<FormWrite, 'length'>, length: number): boolean {
    const { minLength = 0, maxLength = 0 } = this.#policy ?? {};
    if (length > Math.min(maxLength, maxObjectBytes)) {
      this.#refuse('EntityTooLarge', ['ProposedSize', String(length)]);
    } else if (length < minLength) {
      this.#refuse('EntityTooSmall', ['ProposedSize', String(length)]);
    } else {
      const error = this.#events.begin({ ...write, length });
      if (error === null) return true;
      this.#refuse(error);
    }
    return false;
  }

  /** Everything that the fields must fulfil before a byte of the file counts. Null when the upload was refused. */
  #judge(
    fields: FormFields,
    claim: PolicyClaim,
    grants: GrantSet | ErrorCode,
  ): Omit<FormWrite, 'length'> | null {
    const { bucket, authority, nowMs } = this.#form;
    if (typeof grants === 'string') return this.#refuse(grants);
    const policy = readPolicy(claim.policy);
    if (policy === null) return this.#refuse('InvalidPolicyDocument');
    const reason = refusedByPolicy(policy, bucket, fields, nowMs);
    if (reason !== null) return this.#refuse('AccessDenied', ['Reason', reason]);
    this.#policy = policy;
    const key = fields.get('key') ?? '';
    if (key === '') return this.#refuse('InvalidArgument', ['ArgumentName', 'key']);
    if (key.length > maxKeyBytes) return this.#refuse('KeyTooLongError');
    if (!grants.covers('write', bucket, key)) return this.#refuse('AccessDenied');
    const headers = headersOfForm(fields);
    if (headers === null) return this.#refuse('InvalidArgument');
    return { key, headers, grants, success: new PostSuccess(fields, bucket, key, authority) };
  }

  #refuse(code: ErrorCode, ...details: readonly ErrorDetail[]): null {
    this.#isOver = true;
    this.#collected = null;
    this.#held = [];
    this.#events.refuse(code, details);
    return null;
  }
}

function claimOf(fields: FormFields): PolicyClaim | null {
  const policy = fields.get('policy');
  const signature = fields.get('x-amz-signature');
  const credential = fields.get('x-amz-credential');
  const amzDate = fields.get('x-amz-date');
  if (policy === undefined || signature === undefined) return null;
  if (credential === undefined || amzDate === undefined) return null;
  if (fields.get('x-amz-algorithm') !== 'AWS4-HMAC-SHA256') return null;
  return {
    policy,
    credential,
    amzDate,
    signature,
    token: fields.get('x-amz-security-token') ?? null,
  };
}

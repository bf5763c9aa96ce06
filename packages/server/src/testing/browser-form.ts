/** Forms as browsers send them to upload a file, with a policy that covers exactly what they say unless a test wants otherwise. */
import { createHmac } from 'node:crypto';
import type { Identity } from './sign.ts';

const boundary = 'a-boundary';
export const formType = `multipart/form-data; boundary=${boundary}`;

export interface Form {
  readonly identity: Identity;
  readonly fields?: Readonly<Record<string, string>>;
  /** In place of those that cover exactly the fields. */
  readonly conditions?: readonly unknown[];
  readonly expiration?: Date;
  readonly file: Buffer;
  readonly fileName?: string;
  readonly tail?: string;
  readonly spoil?: (fields: Record<string, string>) => void;
}

/** A form's body as a browser sends it, its policy signed for this form alone. */
export function formBody(post: Form, bucket = 'bucket'): Buffer {
  const { identity } = post;
  const amzDate = `${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const scope = `${amzDate.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const fields: Record<string, string> = {
    ...post.fields,
    'x-amz-algorithm': 'AWS4-HMAC-SHA256',
    'x-amz-credential': `${identity.accessKeyId}/${scope}`,
    'x-amz-date': amzDate,
  };
  const conditions = [
    { bucket },
    ...Object.entries(fields)
      .filter(
        ([name]) => !(post.conditions ?? []).some((one) => JSON.stringify(one).includes(name)),
      )
      .map(([name, value]) => ({ [name]: value.replace('${filename}', post.fileName ?? '') })),
    ...(post.conditions ?? []),
  ];
  const expiration = (post.expiration ?? new Date(Date.now() + 60_000)).toISOString();
  fields['policy'] = Buffer.from(JSON.stringify({ expiration, conditions })).toString('base64');
  let key: Buffer = Buffer.from(`AWS4${identity.secretAccessKey}`);
  for (const step of [amzDate.slice(0, 8), 'us-east-1', 's3', 'aws4_request']) {
    key = createHmac('sha256', key).update(step).digest();
  }
  fields['x-amz-signature'] = createHmac('sha256', key).update(fields['policy']).digest('hex');
  post.spoil?.(fields);
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${post.fileName ?? 'f'}"\r\nContent-Type: image/x-of-the-part\r\n\r\n`;
  return Buffer.concat([
    Buffer.from(parts.join('') + file),
    post.file,
    Buffer.from(`\r\n--${boundary}--${post.tail ?? '\r\n'}`),
  ]);
}

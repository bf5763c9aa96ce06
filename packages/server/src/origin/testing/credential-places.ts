/**
 * The places where AWS's default chain finds credentials, played on local ports: a container's endpoint, an instance's metadata
 * service (version 2 only), and the token service that takes web identities.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Issued {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiresAtMs: number;
}

/** One such place. It gives what `issue` says, or refuses while that is null. */
export interface CredentialPlace {
  readonly url: string;
  /** How often credentials were given. */
  readonly given: () => number;
  issue: () => Issued | null;
  close(): Promise<void>;
}

type Answer = readonly [status: number, body: string];
type Script = (request: IncomingMessage, body: string, issue: () => Issued | null) => Answer;

export const containerToken = 'the-token-of-the-container';
export const webIdentity = 'the-identity-of-the-pod';
const instanceToken = 'the-session-of-the-instance';
const role = 'the-role';

const refusal: Answer = [503, 'not now'];

function document({ accessKeyId, secretAccessKey, sessionToken, expiresAtMs }: Issued): string {
  return JSON.stringify({
    Code: 'Success',
    Type: 'AWS-HMAC',
    LastUpdated: new Date().toISOString(),
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretAccessKey,
    Token: sessionToken,
    Expiration: new Date(expiresAtMs).toISOString(),
  });
}

/** `AWS_CONTAINER_CREDENTIALS_FULL_URI`, with `AWS_CONTAINER_AUTHORIZATION_TOKEN`. */
export const container: Script = (request, _body, issue) => {
  if (request.headers.authorization !== containerToken) return [401, 'a token is needed'];
  const issued = issue();
  return issued === null ? refusal : [200, document(issued)];
};

/** `AWS_EC2_METADATA_SERVICE_ENDPOINT`. Without a session of version 2 it answers nothing. */
export const instance: Script = (request, _body, issue) => {
  const path = (request.url ?? '').replace(/\/$/, '');
  if (path === '/latest/api/token') {
    const asks = request.headers['x-aws-ec2-metadata-token-ttl-seconds'] !== undefined;
    return request.method === 'PUT' && asks ? [200, instanceToken] : [400, 'no'];
  }
  if (request.headers['x-aws-ec2-metadata-token'] !== instanceToken) return [401, 'no session'];
  const issued = issue();
  if (issued === null) return refusal;
  if (path === '/latest/meta-data/iam/security-credentials') return [200, role];
  if (path === `/latest/meta-data/iam/security-credentials/${role}`) return [200, document(issued)];
  return [404, 'nothing here'];
};

/** `AWS_ENDPOINT_URL_STS`, for `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN`. */
export const tokenService: Script = (_request, body, issue) => {
  const form = new URLSearchParams(body);
  if (form.get('Action') !== 'AssumeRoleWithWebIdentity') return [400, 'no'];
  if (form.get('WebIdentityToken') !== webIdentity) return [403, 'who?'];
  const issued = issue();
  if (issued === null) return refusal;
  const { accessKeyId, secretAccessKey, sessionToken, expiresAtMs } = issued;
  const fields = [
    `<AccessKeyId>${accessKeyId}</AccessKeyId>`,
    `<SecretAccessKey>${secretAccessKey}</SecretAccessKey>`,
    `<SessionToken>${sessionToken}</SessionToken>`,
    `<Expiration>${new Date(expiresAtMs).toISOString()}</Expiration>`,
  ].join('');
  const user = '<AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/r/s</Arn></AssumedRoleUser>';
  const result = `<AssumeRoleWithWebIdentityResult><Credentials>${fields}</Credentials>${user}</AssumeRoleWithWebIdentityResult>`;
  return [
    200,
    `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">${result}</AssumeRoleWithWebIdentityResponse>`,
  ];
};

export async function startPlace(script: Script): Promise<CredentialPlace> {
  let given = 0;
  const place: { issue: () => Issued | null } = { issue: () => null };
  const issue = (): Issued | null => {
    const issued = place.issue();
    if (issued !== null) given += 1;
    return issued;
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => (body += text));
    request.on('end', () => {
      const [status, text] = script(request, body, issue);
      response.writeHead(status, { 'content-length': Buffer.byteLength(text) });
      response.end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(place, {
    url: `http://127.0.0.1:${port}`,
    given: () => given,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

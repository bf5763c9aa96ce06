/** Rows about clients: their keys and their grants. Part of the settings table, and of the metadata service's. */
import { choice, list, moment, secret, text } from './row.ts';

/** Examples differ, so that a file with all of them loads. */
const keyId = (example: string) =>
  text({
    pattern: /^[A-Za-z0-9._+@-]{1,128}$/,
    allowed: '1 to 128 letters, digits or any of . _ + @ -',
    need: 'required',
    example,
    reloadable: true,
    doc: 'The id of a key. Not a secret.',
  });

const keyRows = {
  secret_access_key: secret({
    need: 'required',
    example: '"..."',
    reloadable: true,
    doc: "The key's secret.",
  }),
  session_token: secret({
    need: 'optional',
    fallbackText: 'none',
    example: '"..."',
    reloadable: true,
    doc: 'For temporary keys: the `x-amz-security-token` that each request must carry. It never reaches the origin.',
  }),
  expires_at: moment({
    need: 'optional',
    fallbackText: 'never',
    example: '2027-12-31T00:00:00Z',
    reloadable: true,
    doc: 'When the key ends. Requests signed with it are refused from then on as `ExpiredToken`.',
  }),
} as const;

export const clientRows = {
  access_key_id: keyId('"analytics"'),
  ...keyRows,
  keys: list(
    'Further keys of the same client, for rotation: add the new one, have the client change over, take the old one away.',
    { access_key_id: keyId('"analytics-2"'), ...keyRows },
    { inline: true },
  ),
  grants: list(
    'What the client may do. Nothing is allowed that no grant covers.',
    {
      bucket: text({
        pattern: /^(\*|[A-Za-z0-9._-]{3,255})$/,
        allowed: 'a bucket name, or "*" for all',
        need: 'required',
        example: '"tables"',
        reloadable: true,
        doc: 'A bucket, or `*` for all.',
      }),
      prefix: text({
        pattern: /^[^\0]{0,1024}$/s,
        allowed: 'text of at most 1024 characters',
        default: '',
        example: '"analytics/"',
        reloadable: true,
        doc: 'Only keys that begin with exactly this.',
      }),
      access: choice(['read', 'write'], {
        need: 'required',
        example: '"read"',
        reloadable: true,
        doc: '`write` includes `read`.',
      }),
    },
    { inline: true },
  ),
} as const;

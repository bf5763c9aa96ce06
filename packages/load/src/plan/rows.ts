/** Every key of a plan file: one table, which gives the type, the validation and the words of its faults. */
import type { ReadRows, Row } from 's3-accelerator/config/row.ts';
import {
  choice,
  endpoint,
  flag,
  integer,
  list,
  named,
  optionalTable,
  secret,
  size,
  table,
  text,
} from 's3-accelerator/config/row.ts';

const kib = 1024;
const day = 86_400;
const u32 = 2 ** 32 - 1;
/** The largest object that S3 takes in one PUT. */
const maxObjectBytes = 5 * 2 ** 30;

function share(doc: string) {
  return integer({ min: 0, max: 1_000_000, default: 0, doc });
}

/** A number with a fraction, which the program's own settings have none of. */
function exponent(doc: string, fallback: number, max: number): Row<number> {
  return {
    is: 'row',
    doc,
    unit: '',
    allowed: `a number above 0 and up to ${max}`,
    required: false,
    fallback,
    fallbackText: String(fallback),
    example: String(fallback),
    reloadable: false,
    secret: false,
    read: (raw) => (typeof raw === 'number' && raw > 0 && raw <= max ? raw : undefined),
  };
}

export const planRows = {
  processes: integer({
    min: 1,
    max: 256,
    default: 1,
    doc: 'Processes that share the load of each step. One keeps one core busy.',
  }),
  seed: integer({
    min: 0,
    max: u32,
    default: 1,
    doc: 'Of everything that is drawn: the same plan asks for the same objects in the same order.',
  }),
  endpoint: table('The S3 API that is loaded.', {
    url: endpoint({
      need: 'required',
      example: '"http://127.0.0.1:9000"',
      doc: 'Where it answers; a path is kept. Requests use path-style addresses.',
    }),
    region: text({
      pattern: /^[a-z0-9-]{1,64}$/,
      allowed: 'a region name in lower case',
      default: 'us-east-1',
      doc: 'The region that requests are signed for.',
    }),
    access_key_id: text({
      pattern: /^[\x21-\x7e]{1,128}$/,
      allowed: '1 to 128 printable characters without spaces',
      need: 'optional',
      fallbackText: '`AWS_ACCESS_KEY_ID`',
      example: '"local-identity"',
      doc: 'The id of the credential. Comes with its secret, or both from the environment.',
    }),
    secret_access_key: secret({
      need: 'optional',
      fallbackText: '`AWS_SECRET_ACCESS_KEY`',
      example: '"local-credential"',
      doc: 'The secret of the credential.',
    }),
    session_token: secret({
      need: 'optional',
      fallbackText: '`AWS_SESSION_TOKEN`',
      example: '"..."',
      doc: 'The token of a temporary credential.',
    }),
  }),
  datasets: named(
    'Objects to read and write. Their bytes follow from key and seed, so every answer can be checked.',
    {
      keyName: '<name>',
      keyPattern: /^[A-Za-z0-9_-]{1,64}$/,
      keyAllowed: '1 to 64 letters, digits, dashes or underscores',
      exampleKey: 'small',
    },
    {
      bucket: text({
        pattern: /^[A-Za-z0-9._-]{3,255}$/,
        allowed: 'a bucket name: 3 to 255 letters, digits, dots, dashes or underscores',
        need: 'required',
        example: '"load"',
        doc: 'The bucket. `seed` creates it when it is missing.',
      }),
      prefix: text({
        pattern: /^[A-Za-z0-9/._-]{0,512}$/,
        allowed: 'at most 512 letters, digits or any of / . _ -',
        default: '',
        example: '"small/"',
        doc: 'What all keys begin with. Nothing else may lie below it.',
      }),
      objects: integer({
        min: 1,
        max: 1_000_000_000,
        need: 'required',
        example: '10000',
        doc: 'How many there are.',
      }),
      seed: integer({ min: 0, max: u32, default: 1, doc: 'Of their sizes and bytes.' }),
      sizes: list(
        'How large they are: one choice or several with weights.',
        {
          bytes: size({
            min: 0,
            max: maxObjectBytes,
            need: 'optional',
            example: '"4KiB"',
            doc: 'Exactly so many bytes.',
          }),
          from: size({
            min: 1,
            max: maxObjectBytes,
            need: 'optional',
            example: '"64KiB"',
            doc: 'With `to`: any size between the two, each doubling as likely as the next.',
          }),
          to: size({
            min: 1,
            max: maxObjectBytes,
            need: 'optional',
            example: '"1MiB"',
            doc: 'The largest size.',
          }),
          weight: integer({
            min: 1,
            max: 1_000_000,
            default: 1,
            doc: 'How many objects have it, against the other weights.',
          }),
        },
        { inline: true },
      ),
    },
  ),
  steps: list(
    'What is done, one after the other.',
    {
      name: text({
        pattern: /^[^\p{Cc}]{1,100}$/u,
        allowed: '1 to 100 printable characters',
        need: 'required',
        example: '"hot reads"',
        doc: 'What the report calls it.',
      }),
      dataset: text({
        pattern: /^[A-Za-z0-9_-]{1,64}$/,
        allowed: 'the name of one of [datasets]',
        need: 'required',
        example: '"small"',
        doc: 'The objects it asks for.',
      }),
      operations: optionalTable('The mix, as shares. GET alone when the table is missing.', {
        get: share('GET of an object or of a range.'),
        head: share('HEAD of an object.'),
        put: share('PUT of an object, with the bytes it has already.'),
        list: share('ListObjectsV2 of up to 1000 keys behind the drawn one.'),
      }),
      range: optionalTable(
        'GETs ask for a part of the object; the whole one where it is smaller.',
        {
          bytes: size({
            min: 1,
            max: maxObjectBytes,
            need: 'required',
            example: '"64KiB"',
            doc: 'How long the part is.',
          }),
          at: choice(['random', 'start', 'end'], {
            default: 'random',
            doc: 'Where it lies: anywhere, at the beginning, at the end.',
          }),
          align: size({
            min: 1,
            max: maxObjectBytes,
            default: 4 * kib,
            doc: 'A random part begins at a multiple of this.',
          }),
        },
      ),
      order: choice(['uniform', 'zipf', 'sequential'], {
        default: 'uniform',
        doc: 'Which object is next: any, popular ones more often, or each in turn.',
      }),
      zipf_exponent: exponent('How unequal popularity is; 1 is what access logs show.', 1, 5),
      connections: integer({
        min: 1,
        max: 100_000,
        unit: 'connections',
        default: 16,
        doc: 'Connections of all processes together, each with one request at a time.',
      }),
      rate: integer({
        min: 1,
        max: 10_000_000,
        unit: 'requests',
        need: 'optional',
        fallbackText: 'as fast as answers come',
        example: '1000',
        doc: 'Requests a second, due at even intervals whatever the answers do; latency counts from then.',
      }),
      duration_s: integer({
        min: 1,
        max: 30 * day,
        unit: 's',
        need: 'optional',
        fallbackText: '`requests`',
        example: '30',
        doc: 'How long it is measured. Either this or `requests`.',
      }),
      requests: integer({
        min: 1,
        max: 1e12,
        unit: 'requests',
        need: 'optional',
        fallbackText: '`duration_s`',
        example: '100000',
        doc: 'How many requests are measured.',
      }),
      warm_up_s: integer({
        min: 0,
        max: day,
        unit: 's',
        default: 0,
        doc: 'How long the same load runs before anything counts.',
      }),
      timeout_ms: integer({
        min: 1,
        max: day * 1000,
        unit: 'ms',
        default: 30_000,
        doc: 'A request without its whole answer by then has failed.',
      }),
      verify: choice(['all', 'edges', 'none'], {
        default: 'edges',
        doc: 'Which bytes are compared: each, the first and last 4 KiB of each answer, or none. Lengths always are.',
      }),
      sign_payload: flag({
        default: false,
        doc: 'Whether PUTs sign the hash of their bytes, instead of `UNSIGNED-PAYLOAD`.',
      }),
    },
    { inline: false },
  ),
} as const;

/** A plan as its file has it, with defaults filled in. */
export type PlanSettings = ReadRows<typeof planRows>;

// Multipart uploads, from single calls and from the SDK's uploader.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import type { CompletedPart, CreateMultipartUploadCommandInput } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { Case } from '../case.ts';
import { assertRefused, md5Tag, patternBytes } from '../target.ts';
import type { Target } from '../target.ts';

const partBytes = 5 * 1024 * 1024;

interface Started {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string;
}

async function start(
  target: Target,
  key: string,
  input: Partial<CreateMultipartUploadCommandInput> = {},
): Promise<Started> {
  const { UploadId } = await target.client.send(
    new CreateMultipartUploadCommand({ Bucket: target.bucket, Key: key, ...input }),
  );
  assert.ok(UploadId !== undefined, 'an upload has an id');
  return { Bucket: target.bucket, Key: key, UploadId };
}

async function uploadPart(
  target: Target,
  upload: Started,
  number: number,
  body: Buffer,
): Promise<CompletedPart> {
  const { ETag, ChecksumCRC32 } = await target.client.send(
    new UploadPartCommand({
      ...upload,
      PartNumber: number,
      Body: body,
      ChecksumAlgorithm: 'CRC32',
    }),
  );
  assert.equal(ETag, md5Tag(body));
  return { PartNumber: number, ETag, ...(ChecksumCRC32 === undefined ? {} : { ChecksumCRC32 }) };
}

function complete(
  target: Target,
  upload: Started,
  parts: CompletedPart[],
): Promise<{ ETag?: string | undefined }> {
  return target.client.send(
    new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }),
  );
}

function multipartTag(parts: readonly Buffer[]): string {
  const hash = createHash('md5');
  for (const part of parts) hash.update(createHash('md5').update(part).digest());
  return `"${hash.digest('hex')}-${parts.length}"`;
}

export const multipartCases: readonly Case[] = [
  {
    name: 'a multipart upload over a cached key is read at once, with its tag and metadata',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'old and cached');
      await target.getRepeatedly(key, 'old and cached');
      const bodies = [1, 2, 3].map((n) => patternBytes(n === 3 ? 1234 : partBytes, `part ${n}`));
      const upload = await start(target, key, {
        ContentType: 'text/x-parts',
        Metadata: { parts: 'three' },
        ChecksumAlgorithm: 'CRC32',
      });
      // Out of order, and the second one twice: the last upload of a number counts.
      const third = await uploadPart(target, upload, 30, bodies[2]!);
      await uploadPart(target, upload, 20, patternBytes(partBytes, 'replaced'));
      const second = await uploadPart(target, upload, 20, bodies[1]!);
      const first = await uploadPart(target, upload, 10, bodies[0]!);
      await target.getRepeatedly(key, 'old and cached');
      const completed = await complete(target, upload, [first, second, third]);
      assert.equal(completed.ETag, multipartTag(bodies));
      const { output } = await target.getRepeatedly(key, Buffer.concat(bodies));
      assert.equal(output.ETag, multipartTag(bodies));
      assert.equal(output.ContentType, 'text/x-parts');
      assert.equal(output.Metadata?.['parts'], 'three');
    },
  },
  {
    name: 'a part number reads that part and tells how many there are',
    run: async (target) => {
      const key = target.freshKey();
      const bodies = [patternBytes(partBytes, 'one'), patternBytes(777, 'two')];
      const upload = await start(target, key, { ChecksumAlgorithm: 'CRC32' });
      const parts = [
        await uploadPart(target, upload, 1, bodies[0]!),
        await uploadPart(target, upload, 2, bodies[1]!),
      ];
      await complete(target, upload, parts);
      await target.getRepeatedly(key, Buffer.concat(bodies));
      const { output } = await target.getRepeatedly(key, bodies[1]!, { PartNumber: 2 });
      assert.equal(output.$metadata.httpStatusCode, 206);
      assert.equal(output.PartsCount, 2);
      assert.equal(output.ContentRange, `bytes ${partBytes}-${partBytes + 776}/${partBytes + 777}`);
      const head = await target.client.send(
        new HeadObjectCommand({ Bucket: target.bucket, Key: key, PartNumber: 1 }),
      );
      assert.equal(head.ContentLength, partBytes);
      assert.equal(head.PartsCount, 2);
      await assertRefused(target.get(key, { PartNumber: 3 }), 416, 'InvalidPartNumber');
    },
  },
  {
    name: 'the uploader of the SDK stores what it was given',
    run: async (target) => {
      const key = target.freshKey();
      const body = patternBytes(2 * partBytes + 99, 'uploader');
      await target.put(key, 'old');
      await target.getRepeatedly(key, 'old');
      const upload = new Upload({
        client: target.client,
        params: { Bucket: target.bucket, Key: key, Body: body, ContentType: 'text/x-uploader' },
        partSize: partBytes,
        queueSize: 3,
      });
      await upload.done();
      const { output } = await target.getRepeatedly(key, body);
      assert.equal(output.ContentType, 'text/x-uploader');
      await target.getRepeatedly(key, body.subarray(partBytes - 5, partBytes + 5), {
        Range: `bytes=${partBytes - 5}-${partBytes + 4}`,
      });
    },
  },
  {
    name: 'parts can be copied from ranges of other objects',
    run: async (target) => {
      const from = target.freshKey();
      const key = target.freshKey();
      const body = patternBytes(2 * partBytes, 'copied parts');
      await target.put(from, body);
      const upload = await start(target, key);
      const source = `${target.bucket}/${from}`;
      const ranges = [`bytes=17-${partBytes + 16}`, 'bytes=0-99'];
      const parts: CompletedPart[] = [];
      for (const [index, range] of ranges.entries()) {
        const { CopyPartResult } = await target.client.send(
          new UploadPartCopyCommand({
            ...upload,
            PartNumber: index + 1,
            CopySource: source,
            CopySourceRange: range,
          }),
        );
        const { ETag, ChecksumCRC32 } = CopyPartResult ?? {};
        parts.push({
          PartNumber: index + 1,
          ETag: ETag ?? '',
          ...(ChecksumCRC32 === undefined ? {} : { ChecksumCRC32 }),
        });
      }
      await complete(target, upload, parts);
      const expected = Buffer.concat([body.subarray(17, partBytes + 17), body.subarray(0, 100)]);
      await target.getRepeatedly(key, expected);
    },
  },
  {
    name: 'parts and uploads in progress are listed, and an aborted upload is gone',
    run: async (target) => {
      const key = target.freshKey();
      const upload = await start(target, key, { ChecksumAlgorithm: 'CRC32' });
      await uploadPart(target, upload, 2, Buffer.from('two'));
      await uploadPart(target, upload, 1, Buffer.from('one!'));
      const page = await target.client.send(new ListPartsCommand({ ...upload, MaxParts: 1 }));
      assert.equal(page.IsTruncated, true);
      assert.deepEqual(
        page.Parts?.map((part) => [part.PartNumber, part.Size, part.ETag]),
        [[1, 4, md5Tag('one!')]],
      );
      const next = await target.client.send(
        new ListPartsCommand({ ...upload, PartNumberMarker: page.NextPartNumberMarker }),
      );
      assert.equal(next.IsTruncated, false);
      assert.deepEqual(
        next.Parts?.map((part) => part.PartNumber),
        [2],
      );
      const uploads = await target.client.send(
        new ListMultipartUploadsCommand({ Bucket: target.bucket, Prefix: key }),
      );
      assert.deepEqual(
        uploads.Uploads?.map((one) => [one.Key, one.UploadId]),
        [[key, upload.UploadId]],
      );
      await target.client.send(new AbortMultipartUploadCommand(upload));
      await assertRefused(target.client.send(new ListPartsCommand(upload)), 404, 'NoSuchUpload');
      await assertRefused(target.get(key), 404, 'NoSuchKey');
    },
  },
  {
    name: 'a completion that is wrong is refused and leaves the old object',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'survives');
      await target.getRepeatedly(key, 'survives');
      const upload = await start(target, key, { ChecksumAlgorithm: 'CRC32' });
      const first = await uploadPart(target, upload, 1, Buffer.from('too small'));
      const second = await uploadPart(target, upload, 2, Buffer.from('last'));
      const wrongTag = { ...first, ETag: md5Tag('another part') };
      await assertRefused(complete(target, upload, [wrongTag]), 400, 'InvalidPart');
      await assertRefused(
        complete(target, upload, [first, { ...second, PartNumber: 3 }]),
        400,
        'InvalidPart',
      );
      await assertRefused(complete(target, upload, [second, first]), 400, 'InvalidPartOrder');
      await assertRefused(complete(target, upload, [first, second]), 400, 'EntityTooSmall');
      await assertRefused(complete(target, upload, []), 400, 'MalformedXML');
      await target.getRepeatedly(key, 'survives');
      await target.client.send(new AbortMultipartUploadCommand(upload));
    },
  },
  {
    name: 'a completion under If-None-Match: * yields to an object that is there',
    run: async (target) => {
      const key = target.freshKey();
      const upload = await start(target, key, { ChecksumAlgorithm: 'CRC32' });
      const part = await uploadPart(target, upload, 1, Buffer.from('late'));
      await target.put(key, 'first');
      const sent = target.client.send(
        new CompleteMultipartUploadCommand({
          ...upload,
          MultipartUpload: { Parts: [part] },
          IfNoneMatch: '*',
        }),
      );
      await assertRefused(sent, 412, 'PreconditionFailed');
      await target.getRepeatedly(key, 'first');
    },
  },
];

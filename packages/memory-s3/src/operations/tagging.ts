// Tags of objects and buckets. Changing tags touches neither the ETag nor the modification time.
import type { Answer } from '../http/answer.ts';
import { emptyAnswer, xmlAnswer } from '../http/answer.ts';
import { S3Error } from '../s3-error.ts';
import type { Tag } from '../store/store.ts';
import { childText, nest, parseXml, tag, xmlDocument } from '../xml.ts';
import type { Context } from './context.ts';
import { existingObject } from './get-object.ts';
import { checkedTags } from './object-headers.ts';

export function getObjectTagging(context: Context): Answer {
  return taggingAnswer(existingObject(context).tags);
}

export async function putObjectTagging(context: Context): Promise<Answer> {
  const tags = await readTags(context);
  context.bucket().put({ ...existingObject(context), tags });
  return emptyAnswer(200);
}

export function deleteObjectTagging(context: Context): Answer {
  context.bucket().put({ ...existingObject(context), tags: [] });
  return emptyAnswer(204);
}

export function getBucketTagging(context: Context): Answer {
  const { tags } = context.bucket();
  if (tags.length === 0) throw new S3Error('NoSuchTagSet');
  return taggingAnswer(tags);
}

export async function putBucketTagging(context: Context): Promise<Answer> {
  context.bucket().tags = await readTags(context);
  return emptyAnswer(204);
}

export function deleteBucketTagging(context: Context): Answer {
  context.bucket().tags = [];
  return emptyAnswer(204);
}

async function readTags(context: Context): Promise<Tag[]> {
  const root = parseXml(await context.document(), 'Tagging');
  const tags = root.children.get('TagSet')?.[0]?.children.get('Tag') ?? [];
  return checkedTags(
    tags.map((one) => [childText(one, 'Key') ?? '', childText(one, 'Value') ?? '']),
  );
}

function taggingAnswer(tags: readonly Tag[]): Answer {
  const set = tags.map(([key, value]) => nest('Tag', tag('Key', key), tag('Value', value)));
  return xmlAnswer(xmlDocument('Tagging', nest('TagSet', ...set)));
}

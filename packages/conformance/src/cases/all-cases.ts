// Every case, in groups, in the order in which they run.
import type { Case } from '../case.ts';
import { conditionCases } from './conditions.ts';
import { copyCases } from './copies.ts';
import { errorCases } from './errors.ts';
import { headerCases } from './headers.ts';
import { keyCases } from './keys.ts';
import { largeObjectCases } from './large-objects.ts';
import { listingCases } from './listing.ts';
import { multipartCases } from './multipart.ts';
import { presignedCases } from './presigned.ts';
import { rangeCases } from './ranges.ts';
import { uploadCases } from './uploads.ts';
import { virtualHostCases } from './virtual-hosts.ts';
import { writeCases } from './writes.ts';

/** Cases about one part of S3, which a server may lack as a whole. */
export interface CaseGroup {
  readonly name: string;
  readonly cases: readonly Case[];
}

export const allGroups: readonly CaseGroup[] = [
  { name: 'keys', cases: keyCases },
  { name: 'ranges', cases: rangeCases },
  { name: 'conditions', cases: conditionCases },
  { name: 'headers', cases: headerCases },
  { name: 'writes', cases: writeCases },
  { name: 'copies', cases: copyCases },
  { name: 'multipart', cases: multipartCases },
  { name: 'uploads', cases: uploadCases },
  { name: 'presigned', cases: presignedCases },
  { name: 'virtual hosts', cases: virtualHostCases },
  { name: 'listing', cases: listingCases },
  { name: 'errors', cases: errorCases },
  { name: 'large objects', cases: largeObjectCases },
];

// Every case, in the order in which they run.
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

export function allCases(withVirtualHosts: boolean): readonly Case[] {
  return [
    ...keyCases,
    ...rangeCases,
    ...conditionCases,
    ...headerCases,
    ...writeCases,
    ...copyCases,
    ...multipartCases,
    ...uploadCases,
    ...presignedCases,
    ...(withVirtualHosts ? virtualHostCases : []),
    ...listingCases,
    ...errorCases,
    ...largeObjectCases,
  ];
}

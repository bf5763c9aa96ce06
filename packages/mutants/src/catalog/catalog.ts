/** All planted bugs, area by area. */
import type { PlantedBug } from '../planted-bug.ts';
import { admissionBugs } from './admission.ts';
import { authorisationBugs } from './authorisation.ts';
import { clusterBugs } from './cluster.ts';
import { fillBugs } from './fills.ts';
import { freshnessBugs } from './freshness.ts';
import { handoverBugs } from './handovers.ts';
import { hotKeyBugs } from './hot-keys.ts';
import { journalBugs } from './journal.ts';
import { livenessBugs } from './liveness.ts';
import { loopBugs } from './loops.ts';
import { rangeBugs } from './ranges.ts';
import { reusedRecordBugs } from './reused-records.ts';
import { ringBugs } from './rings.ts';
import { storageBugs } from './storage.ts';
import { tenantAndOriginBugs } from './tenants-and-origins.ts';
import { writeBugs } from './writes.ts';

export const catalog: readonly PlantedBug[] = [
  ...admissionBugs,
  ...fillBugs,
  ...freshnessBugs,
  ...rangeBugs,
  ...storageBugs,
  ...journalBugs,
  ...writeBugs,
  ...authorisationBugs,
  ...livenessBugs,
  ...clusterBugs,
  ...handoverBugs,
  ...hotKeyBugs,
  ...ringBugs,
  ...reusedRecordBugs,
  ...loopBugs,
  ...tenantAndOriginBugs,
];

// Where servers that are otherwise good origins differ from S3, by the name of the case.

const radosgw: Readonly<Record<string, string>> = {};

const byOrigin: Readonly<Record<string, Readonly<Record<string, string>>>> = { radosgw };

/** Reasons by case; empty for S3 itself and for origins that aren't listed. */
export function knownDeviations(origin: string): ReadonlyMap<string, string> {
  return new Map(Object.entries(byOrigin[origin] ?? {}));
}

/**
 * The bytes of one version of one object, computed from their names: nothing has to be kept to know what an answer should be, and
 * bytes from a wrong place, object or version say where they come from.
 *
 * One pattern repeats, begun at a place that the version decides; every line of 512 bytes starts with object, version and line
 * number, 32 bits each. Objects of a few bytes have only the pattern: two of their versions may be equal.
 */
import { Dice } from '../dice.ts';

const lineBytes = 512;
/** Prime, so that no two blocks of one version are alike. */
const patternBytes = 1048573;
const pattern = Buffer.allocUnsafeSlow(patternBytes);
const dice = new Dice(1);
for (let at = 0; at < patternBytes; at++) pattern[at] = dice.below(256);

/** All bytes of a version. `object` and `version` are u32. */
export function contentOf(object: number, version: number, size: number): Buffer {
  const lines = Math.ceil(size / lineBytes);
  const bytes = Buffer.allocUnsafeSlow(lines * lineBytes);
  const phase = (Math.imul(object, 0x9e3779b1) ^ Math.imul(version, 0x85ebca6b)) >>> 0;
  for (let done = 0; done < bytes.length;) {
    done += pattern.copy(bytes, done, (phase + done) % patternBytes);
  }
  if (size < 16) return bytes.subarray(0, size);
  for (let line = 0; line < lines; line++) {
    bytes.writeUInt32LE(object, line * lineBytes);
    bytes.writeUInt32LE(version, line * lineBytes + 4);
    bytes.writeUInt32LE(line, line * lineBytes + 8);
  }
  return bytes.subarray(0, size);
}

/**
 * What is known of bytes that shouldn't be where they are. `position` is that of `bytes` in the answer's object; `at` the first
 * wrong one among them. For a person.
 */
export function describe(bytes: Buffer, at: number, position: number): string {
  const start = at - ((position + at) % lineBytes);
  if (start < 0 || start + 12 > bytes.length) return 'too few bytes to say whose they are';
  const line = bytes.subarray(start, start + lineBytes);
  if (line.every((byte) => byte === 0)) return 'zeros';
  const [object, version, number] = [0, 4, 8].map((word) => line.readUInt32LE(word));
  return `bytes of line ${number} of version ${version} of object ${object}, or of nothing known`;
}

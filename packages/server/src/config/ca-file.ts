/** Files of certificates that a setting names: the authorities to trust towards one server. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The certificates in a file, as PEM. Throws an Error that tells an operator what is wrong with it. */
export function readCaFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'latin1');
  } catch (error) {
    throw new Error(`${file} can't be read: ${(error as NodeJS.ErrnoException).code ?? ''}`, {
      cause: error,
    });
  }
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error(`${file} has no certificate in PEM`);
  for (const block of blocks) {
    try {
      new X509Certificate(block);
    } catch (error) {
      throw new Error(`${file} has a certificate that can't be read`, { cause: error });
    }
  }
  // A private key that stands beside them is nobody's business here.
  return blocks.join('\n');
}

/**
 * A configuration on its way to another thread. Plain records survive that as they are, but a Secret guards its text with a private
 * field, which a copy loses: it travels as a record that says what it is.
 */
import type { Config } from '../config/config.ts';
import { Secret } from '../config/secret.ts';

export interface PackedConfig {
  readonly packed: unknown;
}

interface PackedSecret {
  readonly secretText: string;
}

export function packConfig(config: Config): PackedConfig {
  return {
    packed: mapped(config, (value) =>
      value instanceof Secret ? { secretText: value.reveal() } : undefined,
    ),
  };
}

export function unpackConfig({ packed }: PackedConfig): Config {
  return mapped(packed, (value) =>
    isPackedSecret(value) ? new Secret(value.secretText) : undefined,
  ) as Config;
}

function isPackedSecret(value: object): value is PackedSecret {
  return 'secretText' in value;
}

/** A deep copy, with what `change` gives in place of some objects. */
function mapped(value: unknown, change: (value: object) => object | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const changed = change(value);
  if (changed !== undefined) return changed;
  if (Array.isArray(value)) return value.map((item) => mapped(item, change));
  if (value instanceof Map) {
    return new Map([...value].map(([key, item]) => [key, mapped(item, change)]));
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapped(item, change)]),
  );
}

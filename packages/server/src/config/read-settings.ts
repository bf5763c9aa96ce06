/** Reads a configuration file's parsed TOML against the settings table. */
import { laterFeature } from './later.ts';
import type { Problems } from './problems.ts';
import type { TomlTable, Unsure } from './read-rows.ts';
import { readDocument } from './read-rows.ts';
import type { Settings } from './settings.ts';
import { settings } from './settings.ts';

/** The settings in a parsed TOML document. Faults go to `problems`: without any, all that is required is there. */
export function readSettings(document: TomlTable, problems: Problems): Unsure<Settings> {
  return readDocument(settings, document, problems, laterFeature) as unknown as Unsure<Settings>;
}

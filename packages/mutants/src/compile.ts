/**
 * Whether planted bugs still compile. Tests run without types, so a bug that breaks them would look caught by whatever
 * imports its file.
 */
import { join } from 'node:path';
import ts from 'typescript';
import type { PlantedBug } from './planted-bug.ts';
import { plant } from './planting.ts';

/** What a bug may leave unused: linting isn't what has to catch it. */
const unused = new Set([6133, 6138, 6192, 6196, 6198]);

/** The names of bugs that don't compile, with the first error of each. */
export function compileErrors(bugs: readonly PlantedBug[], root: string): Map<string, string> {
  const configFile = join(root, 'tsconfig.json');
  const { config } = ts.readConfigFile(configFile, (path) => ts.sys.readFile(path)) as {
    config: unknown;
  };
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const planted = new Map<string, { text: string; version: number }>();
  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => options,
    getScriptFileNames: () => fileNames,
    getScriptVersion: (path) => String(planted.get(path)?.version ?? 0),
    getScriptSnapshot: (path) => {
      const text = planted.get(path)?.text ?? ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
    fileExists: (path) => ts.sys.fileExists(path),
    readFile: (path) => ts.sys.readFile(path),
    readDirectory: (path, extensions, exclude, include, depth) =>
      ts.sys.readDirectory(path, extensions, exclude, include, depth),
    directoryExists: (path) => ts.sys.directoryExists(path),
    getDirectories: (path) => ts.sys.getDirectories(path),
  };
  const service = ts.createLanguageService(host);
  const errors = new Map<string, string>();
  let version = 0;
  for (const bug of bugs) {
    const path = join(root, bug.file);
    const sound = ts.sys.readFile(path);
    if (sound === undefined) continue;
    const planting = plant(bug, sound);
    if (!planting.ok) continue;
    version += 1;
    planted.set(path, { text: planting.text, version });
    const problems = [
      ...service.getSyntacticDiagnostics(path),
      ...service.getSemanticDiagnostics(path),
    ].filter(({ code }) => !unused.has(code));
    version += 1;
    planted.set(path, { text: sound, version });
    const first = problems[0];
    if (first !== undefined) {
      errors.set(bug.name, ts.flattenDiagnosticMessageText(first.messageText, ' '));
    }
  }
  return errors;
}

// Finds scenarios: those that ship with the product, a file of the user's, or a folder of documents.
import { readFileSync, statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { libraryNames, libraryText } from './library.ts';
import { readScenario, readSummary, ScenarioError } from './scenario-file.ts';
import type { Scenario } from './script.ts';
import type { EmulatedVm } from './vm.ts';

export type { Scenario } from './script.ts';

/** The scenarios that ship with the product. */
export function scenarioNames(): readonly { readonly name: string; readonly summary: string }[] {
  return libraryNames().map((name) => ({
    name,
    summary: readSummary(libraryText(name), name),
  }));
}

const fileBytesMax = 1024 * 1024;

/**
 * Loads a scenario for a fleet.
 * @param nameOrPath one of `scenarioNames()`, a scenario file, or a folder of documents to replay
 * @throws ScenarioError
 */
export async function loadScenario(nameOrPath: string, vms: readonly EmulatedVm[]): Promise<Scenario> {
  if (libraryNames().includes(nameOrPath)) return readScenario(libraryText(nameOrPath), nameOrPath, vms);
  const found = await stat(nameOrPath).catch(() => null);
  if (found === null) throw unknownScenario(nameOrPath);
  if (found.isDirectory()) return replay(nameOrPath);
  if (found.size > fileBytesMax) throw new ScenarioError(nameOrPath, ['The file is larger than 1 MiB.']);
  return readScenario(await readFile(nameOrPath, 'utf8'), nameOrPath, vms);
}

function unknownScenario(name: string): ScenarioError {
  return new ScenarioError(`"${name}"`, [
    `There is no such scenario, file or folder. The library has ${libraryNames().join(', ')}.`,
  ]);
}

const replayIntervalMs = 5 * 60_000;

/** Shows the documents of a folder in the order of their names, each for 5 minutes of scenario time. */
async function replay(path: string): Promise<Scenario> {
  const files = (await readdir(path)).filter((file) => extname(file) === '.json').sort();
  const bodies = files.map((file) => bodyOf(join(path, file)));
  const documents = bodies.filter((body) => body !== null);
  if (documents.length === 0) {
    throw new ScenarioError(path, ['No file *.json in this folder is a Scheduled Events document.']);
  }
  const steps = documents.map((body, index) => ({
    atMs: index * replayIntervalMs,
    action: { kind: 'document' as const, body },
  }));
  const leftOut = files.length - documents.length;
  const lastsMsMin = documents.length * replayIntervalMs;
  const note = leftOut === 0 ? '' : `; ${leftOut} other files left out`;
  return { name: basename(path), summary: `Replays ${documents.length} documents${note}`, steps, lastsMsMin };
}

/** An empty file is an empty answer, which IMDS gives too; other files that are no document are left out. */
function bodyOf(path: string): string | null {
  if (statSync(path).size > fileBytesMax) return null;
  const text = readFileSync(path, 'utf8');
  try {
    if (text.trim() === '') return '';
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'Events' in value ? text : null;
  } catch {
    return null;
  }
}

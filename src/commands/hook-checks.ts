// What `seb check` finds of hooks: whether each program may be run, and whether the folder of hooks says what it means.
import { readdirSync } from 'node:fs';
import {
  folderFault,
  type HookFolderEntry,
  type ProgramFault,
  programFault,
  programName,
  typeFolders,
} from '../agent/hooks/hook-programs.ts';
import type { AgentSettings } from '../agent/settings.ts';
import type { CheckResult } from '../sinks/sink.ts';
import { strangeWords } from './event-words.ts';
import type { Check } from './reach.ts';

type HookSettings = Pick<AgentSettings, 'hooks' | 'hooksDir'>;

/** One for each hook of the file, and one for the folder; none without hooks. */
export function hookChecks({ hooks, hooksDir }: HookSettings): readonly Check[] {
  const own = hooks.map(({ on, command: [program = ''], types = [] }, index) => ({
    name: `hooks.${index} (${on})`,
    run: async () => hookResult(program, types),
  }));
  if (hooksDir === undefined) return own;
  return [...own, { name: 'hooksDir', run: async () => folderResult(hooksDir) }];
}

function hookResult(program: string, types: readonly string[]): CheckResult {
  const fault = programFault(program);
  if (fault !== null) return { ok: false, detail: `${program} ${adviceOn[fault]}` };
  return typesResult(program, types);
}

/** A type that Azure may yet invent is no fault, but a slip of the pen is. */
function typesResult(subject: string, types: readonly string[]): CheckResult {
  const { slip, undocumented } = strangeWords('type', types);
  if (slip !== null) return { ok: false, detail: `${subject}; ${slip}` };
  const note = undocumented.length === 0 ? '' : `; no documented type of event: ${undocumented.join(', ')}`;
  return { ok: true, detail: `${subject}${note}` };
}

function folderResult(directory: string): CheckResult {
  const fault = folderFault(directory);
  if (fault !== null) return { ok: false, detail: `${directory} ${adviceOn[fault]}` };
  try {
    const folders = typeFolders(directory);
    const faults = folders.flatMap(folderFaults);
    if (faults.length > 0) return { ok: false, detail: faults.join('; ') };
    const found = folders.map(({ type, path }) => `${type} (${programsIn(path).join(', ') || 'nothing'})`);
    const named = folders.map(({ type }) => type);
    return typesResult(`${directory}: ${found.join(', ') || 'no hooks yet'}`, named);
  } catch {
    return { ok: false, detail: `${directory} ${adviceOn.unreadable}` };
  }
}

const names = ['prepare', 'recover'] as const;

const programsIn = (folder: string): string[] => {
  const found = readdirSync(folder);
  return names.filter((phase) => found.includes(programName(phase)));
};

function folderFaults({ path }: HookFolderEntry): string[] {
  const fault = folderFault(path);
  if (fault !== null) return [`${path} ${adviceOn[fault]}`];
  const programs = names.map(programName);
  const found = readdirSync(path);
  const alike = found
    .filter((name) => !programs.includes(name) && names.some((phase) => name.toLowerCase().startsWith(phase)))
    .map((name) => `${path}/${name} is never run: a hook is called ${programs.join(' or ')}`);
  const faults = programs
    .filter((name) => found.includes(name))
    .map((name) => ({ program: `${path}/${name}`, fault: programFault(`${path}/${name}`) }))
    .flatMap(({ program, fault }) => (fault === null ? [] : [`${program} ${adviceOn[fault]}`]));
  return [...alike, ...faults];
}

const adviceOn: Readonly<Record<ProgramFault, string>> = {
  missing: 'is not there',
  'not-executable': 'cannot be run: a hook is a file that may be executed, as chmod 755 makes it',
  unreadable: 'cannot be read by this user',
  unsafe:
    'may be changed by others, or stands below a folder that they may change: give it and the folders above it to root or the agent’s user, and take the right to write from all others with chmod go-w',
};

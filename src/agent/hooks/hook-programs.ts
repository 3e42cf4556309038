// Looks at the programs of hooks: which ones a folder has, and whether each may be run at all.
import { accessSync, constants, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { HookPhase } from '../../core/deed.ts';
import { type Hook, type HookRefusal, hookId } from '../../core/hook-plan.ts';

/** What keeps a program from being run as a hook, whoever asks for it. */
export type ProgramFault = Extract<HookRefusal, 'unsafe' | 'missing' | 'not-executable' | 'unreadable'>;

/** A folder below the folder of hooks, named after a type of event. */
export interface HookFolderEntry {
  readonly type: string;
  readonly path: string;
}

const phases: readonly HookPhase[] = ['prepare', 'recover'];
// Windows runs no scripts without a shell.
const ending = process.platform === 'win32' ? '.exe' : '';

/** The name of a hook's program in the folder of its type of event. */
export const programName = (phase: HookPhase): string => `${phase}${ending}`;

/**
 * Why a program is not to be run: whoever may change it would run what he likes with the rights of the agent.
 * @returns null when it may be run
 */
export function programFault(path: string): ProgramFault | null {
  try {
    const real = realpathSync(path);
    const program = statSync(real);
    if (!program.isFile()) return 'not-executable';
    if (!isSafe(program) || !areSafeAbove(path, real)) return 'unsafe';
    accessSync(real, constants.X_OK);
    return null;
  } catch (error) {
    return faultOf(error, 'not-executable');
  }
}

/** @returns null for a folder that only root and the agent's user may change, and that can be read */
export function folderFault(path: string): ProgramFault | null {
  try {
    if (!isSafe(statSync(path)) || !areSafeAbove(path, realpathSync(path))) return 'unsafe';
    accessSync(path, constants.R_OK | constants.X_OK);
    return null;
  } catch (error) {
    return faultOf(error, 'unreadable');
  }
}

/** The folders of types in a folder of hooks, in the order of their names. @throws what Node says */
export function typeFolders(directory: string): readonly HookFolderEntry[] {
  return readdirSync(directory)
    .toSorted()
    .map((type) => ({ type, path: join(directory, type) }))
    .filter(({ path }) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true);
}

/**
 * The hooks that a folder has for a type of event. What cannot be seen, or is not there at the moment, counts as a hook
 * that cannot be run: nobody shall take it for none.
 * @param type of the event, any case
 */
export function hooksInFolder(directory: string, type: string): readonly Hook[] {
  const fault = folderFault(directory);
  const anyHook = { type, path: join(directory, '*') };
  if (fault === 'missing') return phases.map((phase) => folderHook(phase, anyHook, fault));
  try {
    const wanted = type.toLowerCase();
    const folders = typeFolders(directory).filter((each) => each.type.toLowerCase() === wanted);
    return folders.flatMap((folder) => hooksOfType(folder, fault));
  } catch {
    return phases.map((phase) => folderHook(phase, anyHook, 'unreadable'));
  }
}

function hooksOfType(folder: HookFolderEntry, fault: ProgramFault | null): readonly Hook[] {
  const found = fault ?? folderFault(folder.path);
  const names = readdirSync(folder.path);
  return phases
    .filter((phase) => names.includes(programName(phase)))
    .map((phase) => folderHook(phase, folder, found));
}

function folderHook(phase: HookPhase, { type, path }: HookFolderEntry, refusal: ProgramFault | null): Hook {
  const command = [join(path, programName(phase))] as const;
  const id = hookId(phase, command);
  return { id, phase, command, types: [type], affected: 'own', timeoutMs: null, refusal };
}

function isSafe({ mode, uid }: Stats): boolean {
  const user = process.getuid?.();
  // Windows says nothing of its rights in these numbers.
  return user === undefined || ((mode & 0o022) === 0 && (uid === 0 || uid === user));
}

/**
 * Whoever may rename a folder on the way to a program puts another one in its place, even after it was looked at.
 * @param paths of one program: as it is called, and as it is without links
 */
function areSafeAbove(...paths: readonly string[]): boolean {
  const folders = new Set(paths.flatMap((path) => foldersAbove(resolve(path))));
  return [...folders].every((folder) => isSafeAround(statSync(folder)));
}

function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

/** In a folder with the sticky bit others may add files, but not replace one that is not theirs. */
const isSafeAround = (folder: Stats): boolean =>
  isSafe(folder) || ((folder.mode & 0o1000) !== 0 && folder.uid === 0);

function faultOf(error: unknown, otherwise: ProgramFault): ProgramFault {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : otherwise;
}

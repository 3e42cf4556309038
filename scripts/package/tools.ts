// Runs the tools that packages are built with, and says in a sentence which one is missing or what it complained about.
import { spawnSync } from 'node:child_process';
import { type BuildPlan, PackagingError } from './artefacts.ts';

// The slowest, xz over 110 MB, takes half a minute on a small machine that does nothing else.
const timeoutMs = 15 * 60_000;
const outputBytesMax = 64 * 1024 * 1024;

interface ToolOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What brings the tool, where its own name does not say. */
  readonly from?: string;
}

/** Runs a tool to its end. @returns what it printed @throws PackagingError */
export function runTool(tool: string, args: readonly string[], options: ToolOptions = {}): string {
  const { cwd, env, from = tool } = options;
  const ended = spawnSync(tool, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC', ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    maxBuffer: outputBytesMax,
  });
  const { code } = (ended.error ?? {}) as NodeJS.ErrnoException;
  if (code === 'ENOENT') throw new PackagingError(`${tool} is missing here; it comes with ${from}`);
  if (ended.status === 0) return ended.stdout;
  const said = `${ended.stderr}${ended.stdout}`.trim().split('\n').slice(-5).join('\n');
  throw new PackagingError(`${tool} failed (${code ?? ended.signal ?? ended.status}): ${said}`);
}

/** Whether a tool can be run here. */
export const hasTool = (tool: string): boolean =>
  spawnSync(tool, ['--version'], { stdio: 'ignore', timeout: 10_000 }).error === undefined;

/** The variables that have tools write the time of the sources and nothing of this machine. */
export const reproducible = ({ epochSeconds }: BuildPlan): Record<string, string> => ({
  SOURCE_DATE_EPOCH: String(epochSeconds),
  // How many cores compress shows in what xz writes.
  DPKG_DEB_THREADS_MAX: '2',
});

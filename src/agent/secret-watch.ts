// Notices when a file that holds a secret or a certificate of a sink changes, so that the sink need not stay suspended.
// `promises` and not 'node:fs/promises': in the bundle it is then loaded with the first look, not with the agent.
import { promises as disk } from 'node:fs';
import { filesOf } from '../config/files.ts';
import { type ResumeRuntime, resumeSuspended } from './resume.ts';
import type { AgentSettings } from './settings.ts';

export interface SecretWatchRuntime extends ResumeRuntime {
  readonly signal: AbortSignal;
}

const lookIntervalMs = 5_000;
// An attempt that began with the old secret may take two minutes, and suspends the sink only at its end.
const freshLooks = 26;

/** Looks every 5 s until `signal` aborts; returns at once when no sink has such a file. */
export async function watchSecrets(
  sinks: AgentSettings['sinks'],
  runtime: SecretWatchRuntime,
): Promise<void> {
  const { clock, signal } = runtime;
  const files = new Map(Object.entries(sinks).map(([name, sink]) => [name, filesOf(sink)] as const));
  const paths = [...new Set([...files.values()].flat())];
  if (paths.length === 0) return;
  let known = await stamps(paths, signal);
  const looksLeft = new Map<string, number>();
  for (;;) {
    await clock.sleep(lookIntervalMs, signal);
    if (signal.aborted) return;
    const seen = await stamps(paths, signal);
    if (signal.aborted) return;
    for (const [name, own] of files) {
      if (own.some((path) => seen.get(path) !== known.get(path))) looksLeft.set(name, freshLooks);
    }
    known = seen;
    resumeMended(looksLeft, runtime);
  }
}

/** Each sink whose files changed lately is woken once, as soon as it is found suspended. */
function resumeMended(looksLeft: Map<string, number>, runtime: ResumeRuntime): void {
  if (looksLeft.size === 0) return;
  for (const name of resumeSuspended([...looksLeft.keys()], 'one of its files changed', runtime)) {
    looksLeft.delete(name);
  }
  for (const [name, left] of looksLeft) {
    if (left <= 1) looksLeft.delete(name);
    else looksLeft.set(name, left - 1);
  }
}

type Stamps = ReadonlyMap<string, string>;

/** Not awaited beyond the end: a file system that hangs holds a thread, but not the agent. */
async function stamps(paths: readonly string[], signal: AbortSignal): Promise<Stamps> {
  const { promise: ended, resolve: end } = Promise.withResolvers<Stamps>();
  const stop = (): void => end(new Map());
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const looked = Promise.all(paths.map(async (path) => [path, await stampOf(path)] as const));
  const found = await Promise.race([looked.then((pairs) => new Map(pairs)), ended]);
  signal.removeEventListener('abort', stop);
  return found;
}

/** Changes with the content, the rights and the file itself; `stat` follows links, as those of mounted secrets. */
async function stampOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await disk.stat(path);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable';
  }
}

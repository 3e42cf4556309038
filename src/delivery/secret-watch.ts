// Notices when a file that holds a secret or a certificate of a sink changes, so that the sink need not stay suspended.
// `promises` and not 'node:fs/promises': in the bundle it is then loaded with the first look, not with the agent.
import { promises as disk } from 'node:fs';
import { filesOf } from '../config/files.ts';
import type { SinkSettings } from '../sinks/index.ts';
import { type ResumeRuntime, resumeSuspended } from './resume.ts';

export interface SecretWatchRuntime extends ResumeRuntime {
  readonly signal: AbortSignal;
}

const lookIntervalMs = 5_000;

/**
 * Looks every 5 s until `signal` aborts, and only at the files of sinks that are suspended. What they looked like is
 * known from the start, or from the last time that the sink was suspended: so a change that came while the last
 * attempt was in hand counts too, and one that the sink got on with costs one attempt at most.
 */
export async function watchSecrets(
  sinks: Readonly<Record<string, SinkSettings>>,
  runtime: SecretWatchRuntime,
): Promise<void> {
  const { clock, outbox, signal } = runtime;
  const files = new Map(Object.entries(sinks).map(([name, sink]) => [name, filesOf(sink)] as const));
  if ([...files.values()].every((paths) => paths.length === 0)) return;
  const known = new Map<string, string>();
  for (const [name, paths] of files) known.set(name, await stampOf(paths, signal));
  for (;;) {
    await clock.sleep(lookIntervalMs, signal);
    if (signal.aborted) return;
    for (const name of outbox.suspended()) {
      const stamp = await stampOf(files.get(name) ?? [], signal);
      if (signal.aborted) return;
      if (stamp === (known.get(name) ?? '')) continue;
      // A receiver that asked for a wait is not bothered before: the change is kept until then.
      const resumed = resumeSuspended([name], 'one of its files changed', runtime);
      if (resumed.length > 0) known.set(name, stamp);
    }
  }
}

/** Not awaited beyond the end: a file system that hangs holds a thread, but not the agent. */
async function stampOf(paths: readonly string[], signal: AbortSignal): Promise<string> {
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const stop = (): void => end('');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const looked = Promise.all(paths.map(stampOfFile)).then((stamps) => stamps.join());
  const stamp = await Promise.race([looked, ended]);
  signal.removeEventListener('abort', stop);
  return stamp;
}

/** Changes with the content, the rights and the file itself; `stat` follows links, as those of mounted secrets. */
async function stampOfFile(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await disk.stat(path);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable';
  }
}

// An agent that is killed at one moment of a hook's life: at the commit that says it begins, behind it, or at that of its end.
import type { Notes } from '../../src/delivery/outbox/draft.ts';
import { Outbox } from '../../src/delivery/outbox/outbox.ts';

// Such as `recover after-note`.
const [phase = '', point = ''] = (process.env['KILL_AT'] ?? '').split(' ');

interface Entry {
  readonly ending: string | null;
  readonly hooks: Readonly<Record<string, { readonly phase: string; readonly outcome: string }>>;
}

/** The moments that this commit is, of the hooks of the phase. */
function momentsOf(notes: Notes): string[] {
  const entries = Object.entries(notes).filter(
    ([key, text]) => key.startsWith('deed/hook/') && text !== null,
  );
  return entries.flatMap(([, text]) => {
    const { hooks, ending } = JSON.parse(text ?? '') as Entry;
    const outcomes = Object.values(hooks)
      .filter((hook) => hook.phase === phase)
      .map(({ outcome }) => outcome);
    return [
      ...(outcomes.includes('started') ? ['note'] : []),
      ...(outcomes.includes('succeeded') ? ['end'] : []),
      ...(ending !== null && outcomes.length === 0 ? ['ending'] : []),
    ];
  });
}

const kill = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

const commit = Outbox.prototype.commit;
Outbox.prototype.commit = function (watch, drafts, notes = {}) {
  const moments = momentsOf(notes);
  if (moments.some((moment) => point === `before-${moment}`)) kill();
  const committed = commit.call(this, watch, drafts, notes);
  if (moments.some((moment) => point === `after-${moment}`)) kill();
  return committed;
};

await import('./agent-child.ts');

// The kinds of anchors, one line each, loaded when settings name them.
import type { Anchor, AnchorSettings } from './anchor.ts';

const kinds: Readonly<Record<AnchorSettings['type'], () => Promise<(settings: AnchorSettings) => Anchor>>> = {
  file: async () => (await import('./file.ts')).openFileAnchor,
  blob: async () => (await import('./blob.ts')).openBlobAnchor,
  webhook: async () => (await import('./webhook.ts')).openWebhookAnchor,
};

/** An anchor and what it goes by in the journal, in metrics and in the log. */
export interface NamedAnchor {
  readonly name: string;
  readonly intervalMs: number;
  readonly anchor: Anchor;
}

export interface Anchors extends AsyncDisposable {
  readonly all: readonly NamedAnchor[];
}

/** Opens the anchors that the settings name; none of them is reached yet. */
export async function openAnchors(settings: readonly AnchorSettings[]): Promise<Anchors> {
  const all: NamedAnchor[] = [];
  const resources = new AsyncDisposableStack();
  for (const each of settings) {
    const anchor = resources.use((await kinds[each.type]())(each));
    const wanted = `${each.type}:${anchor.place}`;
    const twins = all.filter(({ name }) => name === wanted || name.startsWith(`${wanted}#`)).length;
    const name = twins === 0 ? wanted : `${wanted}#${twins + 1}`;
    all.push({ name, intervalMs: each.interval, anchor });
  }
  return { all, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

// What `seb check` tries of what proves a trail: the key, each anchor, the place of the copy.
import { openSigner, SigningUnusable } from '../audit/signing.ts';
import type { ConsumerSettings } from '../consumer/settings.ts';
import { type Check, directoryCheck } from './reach.ts';

/** None for what the settings do not name. */
export async function keepingChecks(settings: ConsumerSettings): Promise<readonly Check[]> {
  return [
    ...signingChecks(settings.signing),
    ...(await anchorChecks(settings.anchors)),
    ...archiveChecks(settings.archive),
  ];
}

function signingChecks(signing: ConsumerSettings['signing']): Check[] {
  if (signing === undefined) return [];
  const run: Check['run'] = async () => {
    try {
      const { keys } = openSigner([signing.keyFile, ...signing.alsoKeyFiles]);
      return { ok: true, detail: `verifiers need ${keys.join(' or ')}` };
    } catch (error) {
      if (error instanceof SigningUnusable) return { ok: false, detail: error.message };
      throw error;
    }
  };
  return [{ name: 'signing', run }];
}

async function anchorChecks(settings: ConsumerSettings['anchors']): Promise<Check[]> {
  if (settings.length === 0) return [];
  const { openAnchors } = await import('../consumer/anchors/registry.ts');
  const { all } = await openAnchors(settings);
  return all.map(({ name, anchor }) => ({
    name: `anchor ${name}`,
    run: async (signal) => {
      await using opened = anchor;
      return await opened.check(signal);
    },
  }));
}

function archiveChecks(settings: ConsumerSettings['archive']): Check[] {
  if (settings === undefined) return [];
  if (settings.type === 'folder') return [directoryCheck('archive', settings.path ?? '')];
  const run: Check['run'] = async (signal) =>
    (await import('../consumer/anchors/blob.ts')).checkContainer(settings, signal);
  return [{ name: 'archive', run }];
}

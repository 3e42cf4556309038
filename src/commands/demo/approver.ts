// What one VM of the demo may do beside watching: prepare itself, and then approve what a user asks for.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deed } from '../../core/read-deed.ts';
import type { TrailRecord } from '../../core/read-record.ts';

const isWindows = process.platform === 'win32';

/**
 * Settings for an agent that approves events of users once its hook has succeeded.
 * @param directory in which the hook is written, and which goes with the demo
 */
export function approvingSettings(directory: string): object {
  const path = join(directory, 'prepare');
  // Windows runs no script without an interpreter.
  if (!isWindows)
    writeFileSync(path, '#!/bin/sh\necho "$SEB_EVENT_TYPE of $SEB_VM_NAME: drained"\n', { mode: 0o700 });
  return {
    approval: { enabled: true, rules: [{ match: { sources: ['User'] }, action: 'afterHooks' }] },
    hooks: isWindows ? [] : [{ on: 'prepare', types: ['Redeploy'], command: [path] }],
  };
}

const hookTexts: Readonly<Record<string, string>> = {
  'prepare started': 'preparing',
  'prepare succeeded': 'prepared',
  'recover started': 'recovering',
  'recover succeeded': 'recovered',
};

const impactTexts: Readonly<Record<string, string>> = {
  none: 'unfelt',
  pause: 'paused',
  reboot: 'rebooted',
};

/** A deed in a word or two, such as `approved` or `prepared`. */
export function deedText(deed: Deed): string {
  if (deed.family === 'approval') return deed.decision;
  if (deed.family === 'impact') return impactTexts[deed.kind] ?? `impact ${deed.kind}`;
  const text = `${deed.phase} ${deed.outcome}`;
  return hookTexts[text] ?? text;
}

/** What the summary says of approvals; none when there were none. @param labelOf how an event is called */
export function approvedLines(
  records: readonly TrailRecord[],
  labelOf: (eventId: string) => string,
): readonly string[] {
  const told = records.flatMap(({ deed, agent }) => (deed === null ? [] : [{ ...deed, agent }]));
  return told
    .filter(({ deed }) => deed.family === 'approval' && deed.decision === 'approved')
    .map(({ eventId, agent: { agentId, observer } }) => {
      const hooks = told.filter(
        (one) => one.eventId === eventId && one.agent.agentId === agentId && isPrepared(one.deed),
      );
      const after = hooks.length === 0 ? '' : ', once its prepare hook had succeeded';
      return `Approved by the rules       ${labelOf(eventId)} by ${observer.vmName ?? 'a VM'}${after}`;
    });
}

const isPrepared = (deed: Deed): boolean =>
  deed.family === 'hook' && deed.phase === 'prepare' && deed.outcome === 'succeeded';

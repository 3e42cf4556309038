// What `seb check` says of approval: whether it is on, and whether its rules say what was meant.
import type { AgentSettings } from '../agent/settings.ts';
import type { CheckResult } from '../sinks/sink.ts';
import { strangeWords } from './event-words.ts';
import type { Check } from './reach.ts';

type ApprovalSettings = Pick<AgentSettings, 'approval' | 'hooks' | 'hooksDir'>;

/** One, when the file says anything about approval. */
export function approvalChecks(settings: ApprovalSettings): readonly Check[] {
  const { enabled, rules } = settings.approval;
  if (!enabled && rules.length === 0) return [];
  return [{ name: 'approval', run: async () => approvalResult(settings) }];
}

function approvalResult(settings: ApprovalSettings): CheckResult {
  const { enabled, rules } = settings.approval;
  const count = rules.length === 1 ? '1 rule' : `${rules.length} rules`;
  const findings = rules.map(
    ({ match: { types = [], sources = [] } }) =>
      [strangeWords('type', types), strangeWords('source', sources)] as const,
  );
  const slip = findings.flatMap((found, index) =>
    found.flatMap(({ slip: sentence }) => (sentence === null ? [] : [`rules.${index}: ${sentence}`])),
  )[0];
  if (slip !== undefined) return { ok: false, detail: slip };
  if (!enabled) return { ok: true, detail: `off, with ${count}: enabled: true switches it on` };
  if (rules.length === 0) return { ok: true, detail: 'on, but without rules: nothing is approved' };
  const strange = findings.flat().flatMap(({ undocumented }) => undocumented);
  const note = strange.length === 0 ? '' : `; documented nowhere: ${strange.join(', ')}`;
  return { ok: true, detail: `on, with ${count}${note}${idleWait(settings)}` };
}

/** Whoever writes `afterHooks` expects something to be waited for. */
function idleWait({ approval: { rules }, hooks, hooksDir }: ApprovalSettings): string {
  const waits = rules.some(({ action }) => action === 'afterHooks');
  const prepares = hooksDir !== undefined || hooks.some(({ on }) => on === 'prepare');
  return waits && !prepares ? '; there is no prepare hook: afterHooks approves at once' : '';
}

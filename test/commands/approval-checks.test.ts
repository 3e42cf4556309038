// What `seb check` says of approval: whether it is on, and the rules that would not do what was meant.
import { expect, it } from 'vitest';
import { approvalChecks } from '../../src/commands/approval-checks.ts';
import { agentSettings } from '../support/sink-kinds.ts';

async function saidOf(settings: object): Promise<string[]> {
  const checks = approvalChecks(
    agentSettings.parse({ imds: { endpoint: 'http://127.0.0.1:9' }, ...settings }),
  );
  const { signal } = new AbortController();
  const results = checks.map(async ({ name, run }) => {
    const { ok, detail } = await run(signal);
    return `${name} ${ok ? 'ok' : 'failed'}: ${detail}`;
  });
  return await Promise.all(results);
}

const approve = { action: 'approve' };
const afterHooks = { action: 'afterHooks' };
const of = (match: object) => ({ match, ...approve });

it('says nothing of approval where the file does not speak of it', async () => {
  expect(await saidOf({})).toEqual([]);
});

it.each([
  [{ enabled: true, rules: [approve] }, 'ok: on, with 1 rule'],
  [{ rules: [approve, approve] }, 'ok: off, with 2 rules: enabled: true switches it on'],
  [{ enabled: true }, 'ok: on, but without rules: nothing is approved'],
  [
    { enabled: true, rules: [approve, of({ types: ['freeze', 'Frezee'] })] },
    'failed: rules.1: no event has the type Frezee: did you mean Freeze?',
  ],
  [{ rules: [of({ sources: ['Usr'] })] }, 'failed: rules.0: no event has the source Usr: did you mean User?'],
  [
    { enabled: true, rules: [of({ types: ['HostAgentMaintenance'] })] },
    'ok: on, with 1 rule; documented nowhere: HostAgentMaintenance',
  ],
])('says of %j whether it is on and spelled as Azure spells', async (approval, said) => {
  expect(await saidOf({ approval })).toEqual([`approval ${said}`]);
});

it('says of a rule that waits for hooks when there is none to wait for', async () => {
  const approval = { enabled: true, rules: [afterHooks] };
  const recover = { on: 'recover', command: ['/bin/true'] };
  const alone = ['approval ok: on, with 1 rule; there is no prepare hook: afterHooks approves at once'];
  expect(await saidOf({ approval })).toEqual(alone);
  expect(await saidOf({ approval, hooks: [recover] })).toEqual(alone);
  expect(await saidOf({ approval, hooks: [{ ...recover, on: 'prepare' }] })).toEqual([
    'approval ok: on, with 1 rule',
  ]);
  expect(await saidOf({ approval, hooksDir: '/etc/hooks.d' })).toEqual(['approval ok: on, with 1 rule']);
});

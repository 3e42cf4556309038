// Who may approve what: a table of decisions, and what no input at all may lead to.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ApprovalDecision,
  type ApprovalPolicy,
  type ApprovalRule,
  type ApprovalSubject,
  decideApproval,
  placeOf,
} from '../../src/core/approval.ts';
import type { ScheduledEvent } from '../../src/core/document.ts';
import { sampleEvent } from '../support/records.ts';

const now = Date.UTC(2026, 10, 10, 22, 12);
const minute = 60_000;
const later = new Date(now + 15 * minute).toISOString();

interface Case {
  readonly event?: Partial<ScheduledEvent>;
  readonly subject?: Partial<ApprovalSubject>;
  readonly rules?: readonly ApprovalRule[];
  readonly policy?: Partial<ApprovalPolicy>;
  readonly at?: number;
}

const approveAll: ApprovalRule = { match: {}, action: 'approve' };
const afterHooks: ApprovalRule = { match: {}, action: 'afterHooks' };

function decide({ event, subject, rules = [approveAll], policy, at = now }: Case): ApprovalDecision {
  const announced = sampleEvent({ eventType: 'Reboot', resources: ['web1'], notBefore: later, ...event });
  const base = { approved: false, vmName: 'web1', preparation: 'none', undelivered: [] } as const;
  const whole = { ...base, event: announced, notBefore: later, firstSeenAt: now, ...subject };
  return decideApproval(whole, { rules, deliveryTimeout: minute, secondAfter: 2 * minute, ...policy }, at);
}

/** A decision in a few words. */
function said(decision: ApprovalDecision): string {
  const rule = 'rule' in decision && decision.rule !== null ? ` by rule ${decision.rule.place}` : '';
  switch (decision.status) {
    case 'nothing':
      return `nothing: ${decision.why}`;
    case 'refused':
      return `refused: ${decision.reason}${rule}`;
    case 'waiting':
      return `waiting for ${decision.for}${decision.until === null ? '' : ` ${decision.until - now} ms`}${rule}`;
    case 'approve':
      return `approve as ${decision.elected}${rule}${decision.undelivered.map((sink) => ` without ${sink}`).join('')}`;
  }
}

const two = ['web1', 'web2'];
const three = ['web1', 'web2', 'web3'];
const rule = (match: ApprovalRule['match'], action: ApprovalRule['action'] = 'approve'): ApprovalRule => ({
  match,
  action,
});

describe('of an event and this VM, the decision is right:', () => {
  it.each<[string, Case, string]>([
    ['it names this VM alone', {}, 'approve as alone by rule 1'],
    ['it names another VM', { event: { resources: ['web2'] } }, 'nothing: not-named'],
    ['it names a VM whose name begins alike', { event: { resources: ['web10'] } }, 'nothing: not-named'],
    ['it names a VM whose name ends alike', { event: { resources: ['my-web1'] } }, 'nothing: not-named'],
    ['it names nobody', { event: { resources: [] } }, 'nothing: not-named'],
    ['it names this VM in another case', { event: { resources: ['WEB1'] } }, 'approve as alone by rule 1'],
    [
      'it names this VM with an underscore',
      { event: { resources: ['_Web1'] } },
      'approve as alone by rule 1',
    ],
    ['it names it with two underscores', { event: { resources: ['__web1'] } }, 'nothing: not-named'],
    ['the name of this VM is not known', { subject: { vmName: null } }, 'waiting for name'],
    ['it has started', { event: { eventStatus: 'Started' } }, 'nothing: not-scheduled'],
    ['it is over', { event: { eventStatus: 'Completed' } }, 'nothing: not-scheduled'],
    ['its status is unknown', { event: { eventStatus: 'Postponed' } }, 'nothing: not-scheduled'],
    ['its status is in another case', { event: { eventStatus: 'scheduled' } }, 'approve as alone by rule 1'],
    ['it was approved', { subject: { approved: true } }, 'nothing: approved'],
    ['it is due', { at: now + 15 * minute }, 'nothing: due'],
    ['it is nearly due', { at: now + 15 * minute - 1 }, 'approve as alone by rule 1'],
    [
      'it is due by the last NotBefore known',
      { event: { notBefore: null }, at: now + 15 * minute },
      'nothing: due',
    ],
    [
      'nobody knows when it is due',
      { event: { notBefore: null }, subject: { notBefore: null }, at: now + 99 * minute },
      'approve as alone by rule 1',
    ],
  ])('%s', (_, given, expected) => {
    expect(said(decide(given))).toBe(expected);
  });
});

describe('of the rules, the first that fits decides:', () => {
  it.each<[string, Case, string]>([
    ['there is none', { rules: [] }, 'refused: no-rule'],
    ['none fits', { rules: [rule({ types: ['Freeze'] })] }, 'refused: no-rule'],
    ['a type in any case', { rules: [rule({ types: ['freeze', 'REBOOT'] })] }, 'approve as alone by rule 1'],
    ['a type is no prefix', { rules: [rule({ types: ['Reb'] })] }, 'refused: no-rule'],
    ['a source in any case', { rules: [rule({ sources: ['platform'] })] }, 'approve as alone by rule 1'],
    ['another source', { rules: [rule({ sources: ['User'] })] }, 'refused: no-rule'],
    [
      'a source that Azure did not say',
      { event: { eventSource: null }, rules: [rule({ sources: ['User', 'Platform'] })] },
      'refused: no-rule',
    ],
    ['as long as allowed', { rules: [rule({ maxDuration: 5_000 })] }, 'approve as alone by rule 1'],
    ['longer than allowed', { rules: [rule({ maxDuration: 4_999 })] }, 'refused: no-rule'],
    [
      'no length at all',
      { event: { durationSeconds: 0 }, rules: [rule({ maxDuration: 0 })] },
      'approve as alone by rule 1',
    ],
    [
      'a length that Azure did not say',
      { event: { durationSeconds: null }, rules: [rule({ maxDuration: 86_400_000 })] },
      'refused: no-rule',
    ],
    ['own: it names this VM alone', { rules: [rule({ resources: 'own' })] }, 'approve as alone by rule 1'],
    [
      'own: it names this VM twice',
      { event: { resources: ['web1', '_WEB1'] }, rules: [rule({ resources: 'own' })] },
      'approve as alone by rule 1',
    ],
    [
      'own: it names others',
      { event: { resources: two }, rules: [rule({ resources: 'own' })] },
      'refused: no-rule',
    ],
    ['shared: it names this VM alone', { rules: [rule({ resources: 'shared' })] }, 'refused: no-rule'],
    [
      'shared: it names others',
      { event: { resources: two }, rules: [rule({ resources: 'shared' })] },
      'approve as first by rule 1',
    ],
    [
      'any: it names others',
      { event: { resources: two }, rules: [rule({ resources: 'any' })] },
      'approve as first by rule 1',
    ],
    ['affected: true', { rules: [rule({ affected: true })] }, 'approve as alone by rule 1'],
    [
      'affected: false',
      { rules: [rule({ affected: false }, 'never'), approveAll] },
      'approve as alone by rule 2',
    ],
    ['never before approve', { rules: [rule({}, 'never'), approveAll] }, 'refused: never by rule 1'],
    ['approve before never', { rules: [approveAll, rule({}, 'never')] }, 'approve as alone by rule 1'],
    [
      'every part has to fit',
      { rules: [rule({ types: ['Reboot'], sources: ['User'] }), rule({ types: ['Reboot'] })] },
      'approve as alone by rule 2',
    ],
  ])('%s', (_, given, expected) => {
    expect(said(decide(given))).toBe(expected);
  });
});

describe('of hooks, an approval', () => {
  it.each<[string, Case, string]>([
    ['waits for those under way', { subject: { preparation: 'pending' } }, 'waiting for hooks by rule 1'],
    [
      'is given when they have succeeded',
      { subject: { preparation: 'succeeded' } },
      'approve as alone by rule 1',
    ],
    ['is given when there are none', {}, 'approve as alone by rule 1'],
    [
      'is refused when one failed',
      { subject: { preparation: 'failed' } },
      'refused: prepare-failed by rule 1',
    ],
    [
      'that a rule gives at once does not wait',
      { rules: [approveAll], subject: { preparation: 'pending' } },
      'approve as alone by rule 1',
    ],
    [
      'of an event that names others is refused',
      { event: { resources: two }, subject: { preparation: 'succeeded' } },
      'refused: shared by rule 1',
    ],
    [
      'of an event that names others is given where the rule speaks for them',
      { event: { resources: two }, rules: [rule({ resources: 'any' }, 'afterHooks')] },
      'approve as first by rule 1',
    ],
    [
      'that the rule gives for others waits for the hooks of this VM',
      {
        event: { resources: two },
        rules: [rule({ resources: 'shared' }, 'afterHooks')],
        subject: { preparation: 'pending' },
      },
      'waiting for hooks by rule 1',
    ],
  ])('%s', (_, given, expected) => {
    expect(said(decide({ rules: [afterHooks], ...given }))).toBe(expected);
  });
});

describe('of an event that names several VMs,', () => {
  it.each<[string, readonly string[], number, string]>([
    ['the first approves at once', three, 0, 'approve as first by rule 1'],
    ['the second waits', ['web2', 'web1', 'web3'], 0, 'waiting for election 120000 ms by rule 1'],
    [
      'the second waits to the last moment',
      ['web2', 'web1'],
      2 * minute - 1,
      'waiting for election 120000 ms by rule 1',
    ],
    ['the second stands in', ['web2', 'web1', 'web3'], 2 * minute, 'approve as second by rule 1'],
    ['the third does nothing', ['web2', 'web3', 'web1'], 14 * minute, 'nothing: others-first'],
    ['who is named twice counts once', ['web2', '_WEB2', 'web1'], 2 * minute, 'approve as second by rule 1'],
    ['who is named last as well is not the last', ['Web1', 'web2', '_web1'], 0, 'approve as first by rule 1'],
  ])('%s', (_, resources, afterMs, expected) => {
    expect(said(decide({ event: { resources }, at: now + afterMs }))).toBe(expected);
  });

  it('waits from its own first sight of it', () => {
    const event = { resources: ['web2', 'web1'] };
    const seen = { firstSeenAt: now - 90_000 };
    expect(said(decide({ event, subject: seen }))).toBe('waiting for election 30000 ms by rule 1');
    expect(said(decide({ event, subject: seen, at: now + 30_000 }))).toBe('approve as second by rule 1');
  });
});

describe('of the deletion of VMs,', () => {
  it.each<[string, Partial<ScheduledEvent>, ApprovalRule, string]>([
    ['each approves its own', { resources: ['_WEB1'] }, approveAll, 'approve as alone by rule 1'],
    [
      'the first does not approve that of others',
      { resources: two },
      approveAll,
      'refused: terminates-others by rule 1',
    ],
    [
      'not even where the rule speaks for them',
      { resources: two },
      rule({ types: ['terminate'], resources: 'shared' }),
      'refused: terminates-others by rule 1',
    ],
    [
      'nor after hooks',
      { resources: two, eventType: 'TERMINATE' },
      rule({ resources: 'any' }, 'afterHooks'),
      'refused: terminates-others by rule 1',
    ],
    ['nor the second', { resources: ['web2', 'web1'] }, approveAll, 'refused: terminates-others by rule 1'],
  ])('%s', (_, event, by, expected) => {
    const at = now + 3 * minute;
    expect(said(decide({ event: { eventType: 'Terminate', ...event }, rules: [by], at }))).toBe(expected);
  });
});

describe('of sinks that lack its records, an approval', () => {
  it.each<[string, Case, string]>([
    ['waits', {}, 'waiting for delivery 60000 ms by rule 1'],
    ['waits to the last moment', { at: now + minute - 1 }, 'waiting for delivery 60000 ms by rule 1'],
    [
      'is given without them when the time is over',
      { at: now + minute },
      'approve as alone by rule 1 without hub',
    ],
    [
      'is given at once without any patience',
      { policy: { deliveryTimeout: 0 } },
      'approve as alone by rule 1 without hub',
    ],
    [
      'waits for them as the second, too',
      {
        event: { resources: ['web2', 'web1'] },
        policy: { secondAfter: 1_000 },
        at: now + 1_000,
      },
      'waiting for delivery 60000 ms by rule 1',
    ],
    [
      'waits for those of its last change, too',
      { subject: { undelivered: ['hub'], changedAt: now + 2 * minute }, at: now + 2 * minute },
      'waiting for delivery 180000 ms by rule 1',
    ],
  ])('%s', (_, given, expected) => {
    expect(said(decide({ subject: { undelivered: ['hub'] }, ...given }))).toBe(expected);
  });
});

// Few names, in all their spellings: what is alike must meet.
const name = () =>
  fc.constantFrom('web1', 'web1', 'WEB1', '_web1', '__web1', 'web10', 'web2', '_Web2', 'web3', '_', '');
const word = (...words: string[]) =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...words) }, fc.string());
const often = <Value>(value: Value, others: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: others });
const some = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

const anyRule = (): fc.Arbitrary<ApprovalRule> =>
  fc.record({
    match: fc
      .record({
        types: some(fc.array(word('Freeze', 'reboot', 'Terminate'), { minLength: 1, maxLength: 2 })),
        sources: some(fc.array(word('User', 'platform'), { minLength: 1, maxLength: 2 })),
        maxDuration: some(fc.constantFrom(0, 4_999, 5_000, 86_400_000)),
        resources: some(fc.constantFrom('own', 'shared', 'any')),
        affected: some(often(true, fc.boolean())),
      })
      .map((match) => Object.fromEntries(Object.entries(match).filter(([, value]) => value !== undefined))),
    action: fc.constantFrom('approve', 'approve', 'afterHooks', 'never'),
  });

const anyEvent = () =>
  fc.record({
    eventType: word('Freeze', 'Reboot', 'Terminate', 'TERMINATE'),
    eventStatus: often('Scheduled', word('scheduled', 'Started', 'Completed')),
    eventSource: fc.option(word('User', 'Platform')),
    durationSeconds: fc.option(fc.constantFrom(0, 5, 30)),
    notBefore: often<string | null>(later, fc.constantFrom(null, new Date(now).toISOString())),
    resources: fc.array(name(), { maxLength: 5 }),
  });

const anyCase = () =>
  fc.record({
    event: anyEvent(),
    subject: fc.record({
      approved: often(false, fc.boolean()),
      vmName: often<string | null>('web1', fc.option(name())),
      preparation: often('none', fc.constantFrom('pending', 'succeeded', 'failed')),
      undelivered: fc.subarray(['hub', 'file']),
      notBefore: fc.option(fc.constant(later)),
      firstSeenAt: fc.integer({ min: now - 5 * minute, max: now + minute }),
    }),
    rules: fc.array(anyRule(), { maxLength: 4 }),
  }) as fc.Arbitrary<
    Required<Pick<Case, 'event' | 'rules'>> & { readonly subject: Omit<ApprovalSubject, 'event'> }
  >;

/** The same name, by other means than those of the code. */
const alike = (one: string, other: string): boolean =>
  [one, other]
    .map((text) => (text.startsWith('_') ? text.slice(1) : text).toUpperCase())
    .every((text, _, [first]) => text === first);

describe('no input whatever', () => {
  const approvals = (
    check: (
      given: {
        event: ScheduledEvent;
        subject: Omit<ApprovalSubject, 'event'>;
        rules: readonly ApprovalRule[];
      },
      decision: ApprovalDecision & { status: 'approve' },
    ) => void,
  ) => {
    let count = 0;
    fc.assert(
      fc.property(anyCase(), ({ event, subject, rules }) => {
        const decision = decide({ event, subject, rules });
        if (decision.status !== 'approve') return;
        count += 1;
        check({ event: sampleEvent(event), subject, rules }, decision);
      }),
      { numRuns: 10_000 },
    );
    expect(count).toBeGreaterThan(200);
  };

  it('approves an event that does not name this VM, or that has begun, is due or was approved', () => {
    approvals(({ event, subject }) => {
      expect(event.resources.some((each) => alike(each, subject.vmName ?? 'nobody'))).toBe(true);
      expect([event.eventStatus.toLowerCase(), subject.approved]).toEqual(['scheduled', false]);
      expect(Date.parse(event.notBefore ?? subject.notBefore ?? later)).toBeGreaterThan(now);
    });
  });

  it('approves without a rule that says so, nor against the first that fits', () => {
    approvals(({ event, subject, rules }, { rule: { place, action } }) => {
      const given = rules[place - 1];
      expect(given?.action).toBe(action);
      expect(action).not.toBe('never');
      const { types, sources, maxDuration, resources, affected } = given?.match ?? {};
      const others = event.resources.filter((each) => !alike(each, subject.vmName ?? '')).length;
      expect(types?.some((type) => type.toLowerCase() === event.eventType.toLowerCase())).not.toBe(false);
      expect(sources?.some((each) => each.toLowerCase() === event.eventSource?.toLowerCase())).not.toBe(
        false,
      );
      if (maxDuration !== undefined) {
        expect((event.durationSeconds ?? Number.NaN) * 1_000).toBeLessThanOrEqual(maxDuration);
      }
      if (resources === 'own') expect(others).toBe(0);
      if (resources === 'shared') expect(others).toBeGreaterThan(0);
      expect(affected).not.toBe(false);
      expect(said(decide({ event, subject, rules: rules.slice(0, place - 1) }))).toBe('refused: no-rule');
    });
  });

  it('approves as the third, the deletion of others, or for others after the hooks of this VM alone', () => {
    approvals(({ event, subject, rules }, { rule: { place }, elected }) => {
      const own = event.resources.findIndex((each) => alike(each, subject.vmName ?? ''));
      const before = event.resources.slice(0, own);
      expect(before.every((each) => alike(each, before[0] ?? ''))).toBe(true);
      const others = event.resources.filter((each) => !alike(each, subject.vmName ?? ''));
      expect(elected).toBe(others.length === 0 ? 'alone' : own === 0 ? 'first' : 'second');
      if (others.length === 0) return;
      expect(event.eventType.toLowerCase()).not.toBe('terminate');
      const { action, match } = rules[place - 1] ?? approveAll;
      if (action === 'afterHooks') expect(match.resources).toMatch(/^(shared|any)$/);
    });
  });

  it('approves before its time: the hooks, the election, or the records of the event', () => {
    approvals(({ subject, rules }, { rule: { place }, elected, undelivered }) => {
      if (rules[place - 1]?.action === 'afterHooks')
        expect(subject.preparation).toMatch(/^(none|succeeded)$/);
      if (elected === 'second') expect(now - subject.firstSeenAt).toBeGreaterThanOrEqual(2 * minute);
      expect(undelivered).toEqual(subject.undelivered);
      if (undelivered.length > 0) expect(now - subject.firstSeenAt).toBeGreaterThanOrEqual(minute);
    });
  });
});

it('all VMs of an event agree which two of them may approve it, however it spells them', () => {
  const spelled = fc.constantFrom('web1', 'WEB1', '_web1', 'web2', '_Web2', 'web3', '_WEB3');
  fc.assert(
    fc.property(fc.array(spelled, { minLength: 1, maxLength: 6 }), (resources) => {
      const all = ['web1', '_Web2', 'WEB3']
        .map((vm) => placeOf(resources, vm))
        .filter((place) => place !== null);
      const sorted = all.toSorted();
      expect(sorted).toEqual(
        all.length === 1
          ? ['alone']
          : ['first', 'later', 'second'].filter((_, at) => all.length === 3 || at !== 1),
      );
    }),
  );
});

// The settings of what the agent does about an event: who approves what, and which hooks run before and after.
import * as z from 'zod';
import { duration, optionalDuration } from './duration.ts';

/** Event types, any case. */
const types = z
  .array(z.string().min(1))
  .min(1)
  .describe('Only events of these types, such as `Freeze`; any case. Every type when not given.');

const match = z
  .strictObject({
    types: types.exactOptional(),
    sources: z
      .array(z.string().min(1))
      .min(1)
      .exactOptional()
      .describe('Only events from these sources: `User`, `Platform`; any case.'),
    maxDuration: optionalDuration({ min: '0ms', max: '24h' }).describe(
      'Only events that are announced to last no longer than this, such as `9s` for a short freeze. One of unknown length never fits.',
    ),
    resources: z
      .enum(['own', 'shared', 'any'])
      .exactOptional()
      .describe(
        '`own`: only events that name this VM alone. `shared`: only events that name others as well. `any`: both. Without it both fit, too, but `action: afterHooks` refuses events that name others, because nobody here knows how the hooks of other VMs go.',
      ),
    affected: z
      .boolean()
      .exactOptional()
      .describe('`true`: only events that name this VM. `false`: only others, which are never approved.'),
  })
  .prefault({})
  .describe('Which events the rule is about: all that fit every part that is given.');

const rule = z
  .strictObject({
    match,
    action: z
      .enum(['approve', 'afterHooks', 'never'])
      .describe(
        '`approve`: at once, even while hooks run. `afterHooks`: when every `prepare` hook of the event has succeeded, and at once when it has none. `never`: not at all.',
      ),
  })
  .refine(({ match: { affected }, action }) => affected !== false || action === 'never', {
    path: ['match', 'affected'],
    error: 'This VM approves only events that name it: give action: never, or leave affected out',
  });

export const approval = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('Whether the agent tells Azure to go ahead with events, as the rules say.'),
    rules: z
      .array(rule)
      .max(100)
      .default([])
      .describe(
        'The first rule that fits an event decides; an event that fits none is not approved. Only events that name this VM are ever approved, and a `Terminate` only when it names no other.',
      ),
    deliveryTimeout: duration({ default: '1m', min: '0ms', max: '1h' }).describe(
      'How long an approval waits, from the first sight of the event or its last change, until every data sink (not chats) has the event’s records. Its record then names those that do not.',
    ),
    secondAfter: duration({ default: '2m', min: '1s', max: '1h' }).describe(
      'An event that names several VMs is approved by the first it names. So long after its own first sight of it the second does it, in case the first is dead; the others never do.',
    ),
  })
  .prefault({})
  .describe(
    'Whether and when the agent approves events, which lets Azure start them at once, for every VM that they name, instead of at their time. See `docs/approval.md`.',
  );

const hook = z.strictObject({
  on: z
    .enum(['prepare', 'recover'])
    .describe(
      '`prepare`: once when an event is announced. `recover`: once when it is over or called off, whatever came of the preparation.',
    ),
  types: types.exactOptional(),
  affected: z
    .enum(['own', 'others', 'all'])
    .default('own')
    .describe('`own`: events that name this VM. `others`: events that do not. `all`: both.'),
  command: z
    .array(z.string())
    .min(1)
    .max(100)
    .refine(
      ([program = '']) => /^(\/|[A-Za-z]:[\\/])/.test(program),
      'Expected the full path of a program first',
    )
    .describe(
      'The program, by its full path, and its words; no shell is between. It gets the event as JSON on its standard input, and in variables `SEB_…`. It is not run when others than root and the agent’s user may change it, or a folder on the way to it.',
    ),
  timeout: optionalDuration({ min: '1s', max: '24h' }).describe(
    'When the hook is ended, with all it has started. A `prepare` is ended 3 s before the event may start in any case; where that is not known, and for a `recover`, 5 minutes when not given.',
  ),
});

export const hooks = z
  .array(hook)
  .max(100)
  .default([])
  .describe(
    'Programs that prepare this VM for an event, or bring it back afterwards; docs/hooks.md has all about them. Those of one event run one after the other, all of them, also when one fails.',
  );

export const hooksDir = z
  .string()
  .min(1)
  .optional()
  .describe(
    'A folder of hooks by type of event: the programs `<EventType>/prepare` and `<EventType>/recover` in it run after those of `hooks`, for events that name this VM. It is looked at when a hook is due. Usually `/etc/scheduled-events-bridge/hooks.d`; none when not given.',
  );

export const impact = z
  .strictObject({
    temporaryDisk: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Where the temporary disk is mounted: a new one tells that the VM was moved. Found by itself where it is at its usual place.',
      ),
  })
  .prefault({})
  .describe('What the agent measures of an event.');

// What `data` of approval, hook and impact records is, as schemas: published for receivers.
import * as z from 'zod';
import type { ApprovalData, Bounds, HookData, ImpactData } from './deed.ts';
import { agentStampSchema, eventSchema, observerSchema, timeSchema } from './event-data-schema.ts';

const text = z.string();
const textOrNull = z.string().nullable();

/** What every record about a deed says. */
const deed = { event: eventSchema, observer: observerSchema, agent: agentStampSchema };

const approvalReason = z
  .enum([
    'rule',
    'person',
    'no-rule',
    'never',
    'shared',
    'terminates-others',
    'prepare-failed',
    'refused-by-imds',
    'too-late',
    'gone',
  ])
  .describe(
    'Why. `rule`, `person`: they say so. `no-rule`: none fits. `never`: the rule that fits says never. `shared`: the event names other VMs, and the rule does not speak for them. `terminates-others`: it would delete other VMs. `prepare-failed`: a hook did. `refused-by-imds`: the metadata service does not take it. `too-late`: the event had to start before it was taken. `gone`: the event left the document first, or was no longer to be approved from here.',
  );

const rule = z
  .looseObject({
    place: z.int().min(1).describe('Counted from 1, as the file has them.'),
    action: z.enum(['approve', 'afterHooks', 'never']),
  })
  .nullable()
  .describe('The rule that matched; null when a person decided, or none matched.');

const answer = z
  .looseObject({
    status: z.int().nullable().describe('The status of the last answer; null when there was none.'),
    attempts: z.int().min(0).describe('How often it was asked.'),
  })
  .nullable()
  .describe('What the metadata service said; null when it was not asked.');

const actor = z
  .looseObject({
    kind: z.enum(['agent', 'person']).describe('The agent by its rules, or a person by hand.'),
    name: textOrNull.describe(
      'The person, as the system calls them, or the VM of the agent; null when it is not known.',
    ),
  })
  .describe('Who decided.');

/** `data` of an approval record. */
export const approvalDataSchema = z.looseObject({
  decision: z
    .enum(['approved', 'refused', 'failed'])
    .describe(
      '`approved`: Azure was told to go ahead. `refused`: it was decided not to. `failed`: it was to be told, and that did not succeed.',
    ),
  reason: approvalReason,
  actor,
  rule,
  elected: z
    .enum(['alone', 'first', 'second', 'person'])
    .nullable()
    .describe(
      'As which of the VMs that the event names; `second` when the first did not approve in time. Null when nothing was to be sent.',
    ),
  answer,
  undelivered: z
    .array(text)
    .describe('Names of the data sinks that did not have the event’s records when their deadline passed.'),
  ...deed,
}) satisfies z.ZodType<ApprovalData>;

const milliseconds = z.number().min(0);

/** `data` of a hook record. */
export const hookDataSchema = z.looseObject({
  phase: z
    .enum(['prepare', 'recover'])
    .describe('`prepare`: before the event. `recover`: once it is over or called off.'),
  hook: text.min(1).describe('The path of its program.'),
  outcome: z
    .enum(['started', 'succeeded', 'failed', 'timed-out', 'interrupted', 'unknown', 'not-started'])
    .describe(
      'How it stands. `unknown`: the agent was ended while it ran, and nobody saw its end. A hook that starts has a second record when it ends.',
    ),
  reason: textOrNull.describe(
    'Why it was not started: `unsafe`, `missing`, `not-executable`, `unreadable`, `no-time-left`, `event-started`, `event-over`, or a word of the system such as `EACCES`; null otherwise.',
  ),
  exitCode: z.int().nullable().describe('Null while it runs, and when a signal ended it.'),
  signal: textOrNull.describe('The signal that ended it, such as `SIGKILL`.'),
  startedAt: timeSchema.nullable(),
  durationMs: milliseconds.nullable().describe('How long it ran; null while it does.'),
  timeoutMs: milliseconds.nullable().describe('After how long it is ended.'),
  output: textOrNull.describe(
    'The beginning and the end of what it wrote, as text; null while it runs. May hold anything that the program says.',
  ),
  outputTruncated: z.boolean().describe('It wrote more than `output` has.'),
  ending: z
    .enum(['completed', 'canceled'])
    .nullable()
    .describe('How the event ended, for a recover; null for a prepare.'),
  ...deed,
}) satisfies z.ZodType<HookData>;

const boundsShape = {
  lowerMs: milliseconds.describe('It lasted at least so long.'),
  upperMs: milliseconds.describe('It lasted no longer.'),
};

const bounds = z.looseObject(boundsShape) satisfies z.ZodType<Bounds>;

const reboot = z
  .looseObject({
    lastTickAt: timeSchema.describe('When the agent last looked before it.'),
    firstTickAt: timeSchema.describe('When it first looked again.'),
    bootIdBefore: text,
    bootIdAfter: text,
  })
  .nullable()
  .describe('The reboot that was measured; null for anything else.');

const moved = z
  .looseObject({
    temporaryDisk: z
      .enum(['kept', 'gone', 'unknown'])
      .describe('`gone`: the disk that does not survive a move is another one now.'),
    faultDomain: z
      .looseObject({ before: textOrNull, after: textOrNull })
      .describe('As instance metadata has it; another one tells of a move.'),
  })
  .describe('Whether the VM runs on another host now.');

/** `data` of an impact record. */
export const impactDataSchema = z.looseObject({
  kind: z
    .enum(['none', 'pause', 'reboot', 'unknown'])
    .describe(
      'What was felt. `none`: the VM was watched throughout, and nothing was. `unknown`: the agent was away for another reason.',
    ),
  measured: bounds
    .nullable()
    .describe('How long: the longest pause, or the reboot, between two bounds; null when unknown.'),
  advertisedSeconds: z.number().min(0).nullable().describe('How long Azure expected it to last.'),
  window: z.looseObject({ from: timeSchema, to: timeSchema }).describe('When this VM was watched for it.'),
  pauses: z
    .array(z.looseObject({ ...boundsShape, at: timeSchema }))
    .describe('Each pause, the longest ones when there are many.'),
  reboot,
  moved,
  ...deed,
}) satisfies z.ZodType<ImpactData>;

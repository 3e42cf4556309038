// `seb approve`: a person tells Azure to go ahead with an event, from a VM that it names.
import { openImds } from '../agent/imds.ts';
import { contentOf, eventKey } from '../core/document.ts';
import { describeApproval, isAgreed, isConversation } from './approve/question.ts';
import { approveByHand, type HandRuntime } from './approve/send.ts';
import { type FoundSubject, findSubject } from './approve/subject.ts';
import { defineCommand, UsageError } from './command.ts';
import { exitCodes } from './dispatch.ts';
import { chosenZone, zoneOptions } from './moment.ts';
import { withOutbox } from './outbox.ts';
import { fileOption, loadAgentSettings } from './program.ts';

// The beginning of an EventId that no two events share, as long as Azure gives random ones.
const idLengthMin = 8;

export const approve = defineCommand({
  name: 'approve',
  summary: 'Tells Azure to start an event of this VM now, once you have said yes.',
  operands: 'EVENT_ID',
  options: {
    ...fileOption('agent'),
    yes: { type: 'boolean', description: 'Do it without asking.' },
    ...zoneOptions,
  },
  examples: [
    {
      line: 'approve C7061BAC-AFDC-4513-B24B-AA5F13A16123',
      shows: 'what will happen, and a question',
    },
    { line: 'approve c7061bac --yes -c agent.yaml', shows: 'that it is done, or why not' },
  ],
  notes: [
    'An approval counts for every VM that the event names, and cannot be taken back. It is allowed from a VM that the event names, while it is Scheduled; of deletions only that of this VM alone.',
    'EVENT_ID in any case, or its first 8 characters or more. "seb current" shows what is announced. It works whether or not the setting "approval" is on, and does not wait for its rules, for hooks or for sinks.',
    'It is written down in the outbox of the agent before it is sent, and its record goes to the sinks of the agent, with your name.',
    'Without an answer it is sent again until the event starts by itself, or for 15 minutes; Ctrl-C ends that.',
  ],
  async run(context) {
    const zone = chosenZone(context);
    const wanted = (context.operands[0] ?? '').trim().toLowerCase();
    if (wanted.length < idLengthMin) {
      throw new UsageError(
        `"${wanted}" is too short for an event: give its first ${idLengthMin} characters or more`,
      );
    }
    if (context.options['yes'] !== true && !isConversation(context)) {
      throw new UsageError('nobody can be asked here: --yes approves without a question');
    }
    const settings = await loadAgentSettings(context);
    return withOutbox(context, async (database) => {
      using imds = openImds(settings.imds);
      const agreed = await agreedSubject(wanted, zone, { context, imds, settings, database });
      if (!('complaint' in agreed)) return approveByHand(agreed, { context, imds, settings, database });
      context.stderr.write(`seb: ${agreed.complaint}\n`);
      return context.signal.aborted ? exitCodes.interrupted : exitCodes.failed;
    });
  },
});

/** Shows the event, asks, and looks again: between question and answer it may have become another one. */
async function agreedSubject(wanted: string, zone: string, runtime: HandRuntime): Promise<FoundSubject> {
  const { context } = runtime;
  const { stderr, signal, options } = context;
  const shown = await findSubject(wanted, { ...runtime, signal });
  if ('complaint' in shown) return shown;
  stderr.write(describeApproval(shown, zone, Date.now()));
  if (options['yes'] === true) return shown;
  if (!(await isAgreed(context))) return { complaint: 'nothing was approved' };
  const now = await findSubject(eventKey(shown.event.eventId), { ...runtime, signal });
  if ('complaint' in now || contentOf(now.event) === contentOf(shown.event)) return now;
  return { complaint: 'the event has changed since it was shown: nothing was approved; look at it again' };
}

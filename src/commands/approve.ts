// `seb approve`: a person tells Azure to go ahead with an event, from a VM that it names.
import { openImds } from '../agent/imds.ts';
import { describeApproval, isAgreed, isConversation } from './approve/question.ts';
import { approveByHand } from './approve/send.ts';
import { findSubject } from './approve/subject.ts';
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
      const subject = await findSubject(wanted, { imds, settings, database, signal: context.signal });
      if ('complaint' in subject) {
        context.stderr.write(`seb: ${subject.complaint}\n`);
        return context.signal.aborted ? exitCodes.interrupted : exitCodes.failed;
      }
      context.stderr.write(describeApproval(subject, zone, Date.now()));
      if (context.options['yes'] !== true && !(await isAgreed(context))) {
        context.stderr.write('seb: nothing was approved\n');
        return context.signal.aborted ? exitCodes.interrupted : exitCodes.failed;
      }
      return await approveByHand(subject, { context, imds, settings, database });
    });
  },
});

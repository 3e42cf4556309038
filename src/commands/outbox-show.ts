// `seb outbox show`: one record of an agent, whole, with what became of it at each sink.
import { showRecord } from '../delivery/outbox/care.ts';
import { defineCommand } from './command.ts';
import { jsonText } from './json-text.ts';
import { withOutbox } from './outbox.ts';
import { fileOption } from './program.ts';

export const outboxShow = defineCommand({
  name: 'outbox show',
  summary: 'Prints a record and its deliveries as JSON.',
  operands: 'ID',
  options: fileOption('agent'),
  examples: [
    {
      line: 'outbox show c7061bac-afdc-4513-b24b-aa5f13a16123_started',
      shows: 'the record as it is sent, and its way to each sink',
    },
  ],
  run: (context) =>
    withOutbox(context, (database, advise) => {
      const id = context.operands[0] ?? '';
      const shown = showRecord(database, id);
      if (shown === null) {
        context.stderr.write(`seb: the outbox holds no record "${id}"\n`);
        return 1;
      }
      const deliveries = shown.deliveries.map((delivery) => ({
        ...delivery,
        dueAt: delivery.dueAt === null ? null : new Date(delivery.dueAt).toISOString(),
        committedAt: new Date(delivery.committedAt).toISOString(),
        advice: advise(delivery),
      }));
      context.stdout.write(`${jsonText({ record: shown.record, deliveries }, 2)}\n`);
      return 0;
    }),
});

// `seb outbox list`: what an agent has not delivered yet, and why.
import { listDeliveries } from '../agent/outbox/care.ts';
import { defineCommand } from './command.ts';
import { chosenDeliveries, deliveryColumns, openStates, selectionOptions, withOutbox } from './outbox.ts';
import { printRows } from './table.ts';

export const outboxList = defineCommand({
  name: 'outbox list',
  summary: 'Lists the deliveries that wait, rest or died, oldest first.',
  operands: '[ID...]',
  options: {
    ...selectionOptions,
    all: { type: 'boolean', description: 'Those that were delivered or discarded as well.' },
  },
  examples: [
    { line: 'outbox list -c agent.yaml', shows: 'what is not delivered yet, to which sink, and why' },
    {
      line: 'outbox list --sink hook --state dead -o json',
      shows: 'what the sink "hook" did not take, as JSON',
    },
  ],
  notes: [
    'pending: it will be tried when it is due. suspended: the sink itself is at fault and rests; it is probed every 15 minutes. dead: given up; "seb outbox retry" tries it again.',
  ],
  run: (context) =>
    withOutbox(context, async (database) => {
      const selection = chosenDeliveries(context);
      const usual = context.options['all'] === true ? {} : { states: openStates };
      const rows = listDeliveries(database, { ...usual, ...selection });
      await printRows(context, deliveryColumns(context), rows, 'nothing waits');
      return 0;
    }),
});

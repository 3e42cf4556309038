// `seb outbox list`: what an agent has not delivered yet, and why.
import { type CareRow, listDeliveries } from '../delivery/outbox/care.ts';
import { type CommandContext, defineCommand } from './command.ts';
import {
  type Advise,
  chosenDeliveries,
  deliveryColumns,
  openStates,
  selectionOptions,
  withOutbox,
} from './outbox.ts';
import { outputFormat, printRows } from './table.ts';

export const outboxList = defineCommand({
  name: 'outbox list',
  summary: 'Lists the deliveries that wait, rest or died, oldest first.',
  operands: '[ID...]',
  options: {
    ...selectionOptions,
    all: { type: 'boolean', description: 'Those that were delivered, superseded or discarded as well.' },
  },
  examples: [
    { line: 'outbox list -c agent.yaml', shows: 'what is not delivered yet, to which sink, and why' },
    {
      line: 'outbox list --sink hook --state dead -o json',
      shows: 'what the sink "hook" did not take, as JSON',
    },
  ],
  notes: [
    'pending: it will be tried when it is due. suspended: the sink itself is at fault and rests; it is probed when it is due. dead: given up; "seb outbox retry" tries it again. superseded: skipped in a chat, because a newer phase of the same event was there to be said.',
  ],
  run: (context) =>
    withOutbox(context, async (database, advise) => {
      const selection = chosenDeliveries(context);
      const usual = context.options['all'] === true ? {} : { states: openStates };
      const rows = listDeliveries(database, { ...usual, ...selection });
      await printRows(context, deliveryColumns(context, advise), rows, 'nothing waits');
      if (outputFormat(context) === 'table') explainReasons(context, rows, advise);
      return 0;
    }),
});

/** Under a table that a person reads: each reason in it, once, and what to do about it. */
function explainReasons({ stderr }: CommandContext, rows: readonly CareRow[], advise: Advise): void {
  const lines = new Set(
    rows.flatMap((row) => {
      const advice = advise(row);
      return advice === null ? [] : [`${row.reason} (${row.sink}): ${advice}\n`];
    }),
  );
  if (lines.size > 0) stderr.write(`\n${[...lines].join('')}`);
}

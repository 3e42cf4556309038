// `seb outbox discard`: lets deliveries go that were never made; the record of the decision stays for a while.
import { discardDeliveries } from '../delivery/outbox/care.ts';
import { defineCommand } from './command.ts';
import { changeDeliveries, changingOptions } from './outbox.ts';

export const outboxDiscard = defineCommand({
  name: 'outbox discard',
  summary: 'Lets deliveries go that were not made: these records never reach these sinks.',
  operands: '[ID...]',
  options: changingOptions,
  examples: [
    { line: 'outbox discard --sink hook --state dead', shows: 'what died at the sink "hook"' },
    { line: 'outbox discard --sink hook --before 7d', shows: 'what waited there for more than a week' },
  ],
  notes: ['"seb outbox list" with the same options shows beforehand what is meant.'],
  run: (context) => changeDeliveries(context, discardDeliveries),
});

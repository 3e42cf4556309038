// `seb outbox retry`: tries deliveries again at once, dead ones too, and wakes their sinks.
import { retryDeliveries } from '../delivery/outbox/care.ts';
import { defineCommand } from './command.ts';
import { changeDeliveries, changingOptions } from './outbox.ts';

export const outboxRetry = defineCommand({
  name: 'outbox retry',
  summary: 'Tries deliveries again now, dead ones too, and ends the rest of their sinks.',
  operands: '[ID...]',
  options: changingOptions,
  examples: [
    { line: 'outbox retry --sink hook', shows: 'all that waits for the sink "hook" or died there' },
    { line: 'outbox retry --state dead', shows: 'all that died, at every sink' },
  ],
  notes: ['A running agent notices within about a second; otherwise it happens when the agent starts.'],
  run: (context) => changeDeliveries(context, retryDeliveries),
});

// The settings of the consumer's notices: where they go, what waits for what, and where their queue lies.
import * as z from 'zod';
import { imdsEndpoint, outboxSettings, sinkName } from './agent.ts';
import { duration } from './duration.ts';

/**
 * The schema of `notify`.
 * @param sink the schema of one sink: the sinks declare their own settings
 */
export const notifySchema = <Sink extends z.ZodType>(sink: Sink) =>
  z
    .strictObject({
      stateDir: z
        .string()
        .min(1)
        .default('/var/lib/scheduled-events-bridge/notify')
        .describe(
          'Directory of the outbox of the notices, for one consumer alone. Should survive a restart: what it holds is not sent twice.',
        ),
      sinks: z
        .record(sinkName, sink)
        .prefault({})
        .describe('Where notices go, by a name of your choice: one for each fact, whoever saw it.'),
      groupWait: duration({ default: '5s', min: '1ms', max: '10m' }).describe(
        'How long a chat message waits for more of the same before it is sent or updated. What cannot wait goes at once.',
      ),
      silenceInterval: duration({ default: '1m', min: '1s', max: '1h' }).describe(
        'Time between looks at who is silent: agents that say nothing, and metadata services that sleep.',
      ),
      outbox: outboxSettings,
      imds: z
        .strictObject({ endpoint: imdsEndpoint })
        .prefault({})
        .describe('The metadata service, which gives tokens to sinks that use the identity of this machine.'),
    })
    .optional()
    .describe('Notices for people and programs: the fleet speaks once, with one voice. Off unless given.');

/** For whoever sends no notices: what stands there is left alone. */
export const notifyPassedOver = z
  .unknown()
  .transform((): undefined => undefined)
  .optional();

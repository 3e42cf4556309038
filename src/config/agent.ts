// Every setting of the agent but those of its sinks, declared once: schema, type, default, docs and help.
import * as z from 'zod';
import { approval, hooks, hooksDir, impact } from './agent-deeds.ts';
import { duration, size } from './duration.ts';
import { listenAddress } from './listen.ts';

/** The address of Azure's instance metadata service, the same on every VM. */
export const imdsAddress = 'http://169.254.169.254';

/** The address of the instance metadata service, for both programs. */
export const imdsEndpoint = z
  .url({ protocol: /^http$/, error: 'Expected a URL such as http://169.254.169.254', abort: true })
  .regex(/^http:\/\/[^?#@]+$/i, 'Expected a host and perhaps a path: no user, query or fragment')
  .transform((url) => url.replace(/\/+$/, ''))
  .prefault(imdsAddress)
  .describe('Where the instance metadata service is. Point it at `seb emulate imds` to try things out.');

const imds = z
  .strictObject({
    endpoint: imdsEndpoint,
    apiVersion: z
      .string()
      .regex(/^\d{4}-\d{2}-\d{2}$/, 'Expected a version such as 2020-07-01')
      .default('2020-07-01')
      .describe('Version of the Scheduled Events document. Older ones hide event types and fields.'),
    pollInterval: duration({ default: '1s', min: '250ms', max: '60s' }).describe(
      'Time between polls. All programs on a VM share 5 requests a second.',
    ),
    firstTimeout: duration({ default: '125s', min: '1s', max: '10m' }).describe(
      'Time allowed until the first good answer of a run: the first request switches the feature on, which may take 2 minutes.',
    ),
    timeout: duration({ default: '10s', min: '100ms', max: '2m' }).describe(
      'Time allowed for every later poll.',
    ),
  })
  .prefault({})
  .describe('The source of events.');

/** The limits of an outbox, for both programs. */
export const outboxSettings = z
  .strictObject({
    sizeMax: size({ default: '100MiB', min: '1MiB', max: '10GiB' }).describe(
      'Most room the outbox may take. Beyond it the oldest records give way, loudly; the newest never does.',
    ),
    keepDelivered: duration({ default: '24h', min: '1s', max: '90d' }).describe(
      'How long a record stays after every sink took it.',
    ),
    keepDead: duration({ default: '30d', min: '1s', max: '365d' }).describe(
      'How long a dead delivery stays for a person to look at.',
    ),
  })
  .prefault({})
  .describe('The durable queue in `stateDir`.');

const heartbeat = duration({ default: '1h', min: '1s', max: '24h' }).describe(
  'Time between `agent.heartbeat` records, which prove that this VM is watched.',
);

const status = z
  .strictObject({
    listen: listenAddress('127.0.0.1:9464').describe(
      'Address of `/healthz`, `/readyz` and `/metrics`: `host:port`, or a port of this machine alone; port 0 takes a free one. Whoever reaches it can read it: anything but loopback is for a network that you trust.',
    ),
  })
  .optional()
  .describe('The status page for probes and Prometheus. Without this setting nothing listens.');

const log = z
  .strictObject({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
      .default('info')
      .describe('How much the program says about itself on standard error.'),
  })
  .prefault({})
  .describe('The log.');

/** The log settings, for both programs. */
export const logSettings = log;

/** A sink's name: it stands in metrics, logs and command lines. */
export const sinkName = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/, 'A sink is named with a-z, 0-9 and "-"');

/**
 * The schema of `agent.yaml`.
 * @param sink the schema of one sink: the sinks declare their own settings
 */
export const agentSchema = <Sink extends z.ZodType>(sink: Sink) =>
  z.strictObject({
    stateDir: z
      .string()
      .min(1)
      .default('/var/lib/scheduled-events-bridge')
      .describe('Directory of the outbox. Must survive a reboot: never the temporary disk.'),
    imds,
    sinks: z.record(sinkName, sink).prefault({}).describe('Where records go, by a name of your choice.'),
    outbox: outboxSettings,
    heartbeatInterval: heartbeat,
    approval,
    hooks,
    hooksDir,
    impact,
    status,
    log,
  });

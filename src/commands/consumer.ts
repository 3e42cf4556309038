// `seb consumer`: reads the hub into the trail until it is told to stop.
import { systemClock } from '../clock.ts';
import { readConfiguration, validateConfiguration } from '../config/load.ts';
import { runConsumer } from '../consumer/consumer.ts';
import { consumerSettingsFor } from '../consumer/settings.ts';
import { defineCommand } from './command.ts';
import { effectiveSha256 } from './effective-text.ts';
import { openProgramService, runLongProgram } from './long-program.ts';
import { chosenFile, fileOption, settingsHelp } from './program.ts';

export const consumer = defineCommand({
  name: 'consumer',
  summary: 'Reads what all agents sent to the hub, and keeps the audit trail of the fleet.',
  options: fileOption('consumer'),
  examples: [
    {
      line: 'consumer -c consumer.yaml',
      shows: 'the consumer, until SIGTERM or Ctrl-C; its log goes to standard error',
    },
  ],
  notes: [
    'It reads every partition from where the trail ends, from the oldest event on at the first start, and stores what it cannot read as well.',
    'It seals the trail every 30 s when something came, hourly otherwise, and signs it with the key of "signing"; "anchors" keep the signed heads out of its own reach.',
    'SIGTERM and SIGINT let the batch in hand finish and end the consumer within 10 seconds. Whatever ends it, the next start goes on without a hole and without a double.',
    'As a service of systemd (Type=notify) it says when it is ready, how it stands, and to the watchdog only while its reading goes on.',
    'With the setting "notify" it tells people and programs of each fact once, for the whole fleet; of several consumers one does.',
    'With the setting "status" the consumer answers /healthz, /readyz and /metrics on 127.0.0.1:9465. Without it, nothing listens.',
    'What the trail holds: "seb events". Every setting: "seb config docs --program consumer".',
  ],
  settings: () => settingsHelp('consumer'),
  async run(context) {
    const path = chosenFile(context, 'consumer');
    const content = readConfiguration(path);
    const schema = await consumerSettingsFor(content);
    const settings = validateConfiguration(content, path, schema);
    const settingsSha256 = effectiveSha256(path, schema);
    using service = await openProgramService(context);
    return await runLongProgram('consumer', settings, context, (log) =>
      runConsumer(settings, { clock: systemClock, log, signal: context.signal, service, settingsSha256 }),
    );
  },
});

// What `/metrics` of a really running agent and consumer says, once every metric that waits for something has a series.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { openInbox } from './inbox.ts';
import { hookTo, migrationNow, noticesFrom, notifySettings } from './noticing.ts';
import { type PrometheusPage, readPrometheusPage } from './prometheus-text.ts';
import { startAgent } from './running-agent.ts';
import { openSender, startConsumer } from './running-consumer.ts';
import { projectRoot } from './source-files.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { until } from './until.ts';

export interface MetricsPage extends PrometheusPage {
  readonly text: string;
}

const status = { listen: 0 };

async function pageOf(statusUrl: string): Promise<MetricsPage> {
  const text = await (await fetch(`${statusUrl}/metrics`)).text();
  return { text, ...readPrometheusPage(text) };
}

/** Of an agent with a delivery behind it. */
export async function agentMetrics(): Promise<MetricsPage> {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox();
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true };
  await using agent = startAgent(directory.path, imds.url, { sinks: { hook }, status });
  imds.show(readFileSync(join(projectRoot, 'test/fixtures/imds/04-livemigration-2-scheduled.json'), 'utf8'));
  await inbox.received(1);
  return await until('the delivery to be counted', async () => {
    const page = await pageOf(await agent.statusUrl());
    return page.value('seb_deliveries_total', { sink: 'hook', state: 'delivered' }) === 1 && page;
  });
}

/** Of a consumer that has looked at its partitions, and has an anchor. */
export async function consumerMetrics(): Promise<MetricsPage> {
  using directory = temporaryDirectory();
  await using hub = await startEventHubsEmulator();
  const path = join(directory.path, 'trail.db');
  const anchors = [{ type: 'file', path: join(directory.path, 'seals.notes') }];
  await using inbox = await openInbox();
  const sinks = { hook: hookTo(inbox) };
  const notify = await notifySettings({ stateDir: join(directory.path, 'notify'), sinks });
  const options = { watchIntervalMs: 100, settings: { status, anchors }, notify };
  await using consumer = startConsumer(path, hub, options);
  await noticesFrom(consumer);
  await using sender = openSender(hub);
  await sender.send(migrationNow(0, 1));
  return await until('the partitions to be read, and a notice', async () => {
    const page = await pageOf(await consumer.statusUrl());
    const isRead = page.value('seb_hub_state', { state: 'reading' }) === 1;
    const notice = { sink: 'hook', state: 'delivered' };
    return isRead && page.value('seb_consumer_notices_deliveries_total', notice) === 3 && page;
  });
}

/** What a page offers: the labels of each metric, without those that the format itself adds. */
export const offeredBy = ({ families }: MetricsPage) =>
  [...families.values()].map(({ name, samples, type }) => ({
    name,
    labels: Object.keys(samples[0]?.labels ?? {})
      .filter((label) => label !== 'le')
      .toSorted(),
    type,
  }));

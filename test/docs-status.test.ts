// Whether docs/status.md lists the metrics that an agent really offers.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startImdsEmulator } from '../src/emulators/imds/emulator.ts';
import { openInbox } from './support/inbox.ts';
import { codeBlocks, pageText } from './support/markdown.ts';
import { readPrometheusPage } from './support/prometheus-text.ts';
import { startAgent } from './support/running-agent.ts';
import { projectRoot } from './support/source-files.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';
import { until } from './support/until.ts';

describe('docs/status.md', () => {
  const rows = [...pageText('docs/status.md').matchAll(/^\| `(seb_\w+)` \|(.*?)\| (\w+) \|/gm)];
  const said = rows.map(([, name, labels = '', type]) => ({
    name,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).toSorted(),
    type,
  }));

  it('has every metric that an agent with a delivery behind it offers, and no other', async () => {
    const offered = [...(await metricsAfterADelivery()).families.values()].map(({ name, samples, type }) => ({
      name,
      labels: Object.keys(samples[0]?.labels ?? {})
        .filter((label) => label !== 'le')
        .toSorted(),
      type,
    }));
    const byName = (a: { name?: string | undefined }, b: { name?: string | undefined }) =>
      String(a.name).localeCompare(String(b.name));
    expect(said.toSorted(byName)).toEqual(offered.toSorted(byName));
  });

  it('writes alerts about metrics and labels that there are', () => {
    const [alerts] = codeBlocks('docs/status.md', 'yaml').filter(({ text }) => text.startsWith('groups:'));
    const used = [...(alerts?.text ?? '').matchAll(/(seb_\w+)(?:\{(\w+)=)?/g)];
    expect(used.length).toBeGreaterThan(3);
    for (const [, name, label] of used) {
      const metric = said.find((each) => each.name === name);
      expect(metric?.labels, name).toEqual(
        label === undefined ? expect.anything() : expect.arrayContaining([label]),
      );
    }
  });
});

/** What `/metrics` says once every metric that waits for something to happen has a series. */
async function metricsAfterADelivery() {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox();
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true };
  await using agent = startAgent(directory.path, imds.url, { sinks: { hook }, status: { listen: 0 } });
  imds.show(readFileSync(join(projectRoot, 'test/fixtures/imds/04-livemigration-2-scheduled.json'), 'utf8'));
  await inbox.received(1);
  return await until('the delivery to be counted', async () => {
    const page = readPrometheusPage(await (await fetch(`${await agent.statusUrl()}/metrics`)).text());
    return page.value('seb_deliveries_total', { sink: 'hook', state: 'delivered' }) === 1 && page;
  });
}

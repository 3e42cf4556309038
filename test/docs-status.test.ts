// Whether docs/status.md lists the metrics that a running agent and a running consumer really offer.
import { describe, expect, it } from 'vitest';
import { consumerSchema } from '../src/config/consumer.ts';
import { listenText } from '../src/config/listen.ts';
import { pageText } from './support/markdown.ts';
import { agentMetrics, consumerMetrics, offeredBy } from './support/metrics-pages.ts';
import { agentSettings } from './support/sink-kinds.ts';

interface Metric {
  readonly name: string;
  readonly labels: readonly string[];
  readonly type: string;
}

/** The part of the page under a heading. */
const section = (heading: string): string =>
  pageText('docs/status.md')
    .split(/^## /m)
    .find((part) => part.startsWith(heading)) ?? '';

function saidUnder(heading: string): Metric[] {
  const rows = [...section(heading).matchAll(/^\| `(seb_\w+)` \|(.*?)\| (\w+) \|/gm)];
  return rows.map(([, name = '', labels = '', type = '']) => ({
    name,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => String(label)).toSorted(),
    type,
  }));
}

const sorted = (metrics: readonly Metric[]): Metric[] =>
  metrics.toSorted((a, b) => a.name.localeCompare(b.name));

describe('docs/status.md', () => {
  it('has every metric that an agent with a delivery behind it offers, and no other', async () => {
    const said = [...saidUnder('The agent'), ...saidUnder('Both programs')];
    expect(sorted(said)).toEqual(sorted(offeredBy(await agentMetrics())));
  });

  it('has every metric that a consumer which reads its hub offers, and no other', async () => {
    const said = [...saidUnder('The consumer'), ...saidUnder('Both programs')];
    expect(sorted(said)).toEqual(sorted(offeredBy(await consumerMetrics())));
  });

  it('names the addresses that the programs take', () => {
    const agent = agentSettings.parse({ status: {} }).status;
    const consumer = consumerSchema.parse({
      hub: { connectionString: 'x', eventHubName: 'y' },
      status: {},
    }).status;
    for (const [status, heading] of [[agent, 'The agent'] as const, [consumer, 'The consumer'] as const]) {
      expect(section(heading)).toContain(status === undefined ? 'nothing' : listenText(status.listen));
    }
  });
});

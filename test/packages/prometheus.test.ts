// Whether Prometheus' own tool takes the alerts, sees each of them fire when it should, and reads the pages of both programs.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { pageText } from '../support/markdown.ts';
import { agentMetrics, consumerMetrics } from '../support/metrics-pages.ts';
import { projectRoot } from '../support/source-files.ts';

const cwd = join(projectRoot, 'infra/prometheus');

function promtool(args: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd, input, encoding: 'utf8' });
  return { status, said: `${stdout}${stderr}` };
}

it('takes the alerts', () => {
  expect(promtool(['check', 'rules', 'alerts.yml'])).toMatchObject({ status: 0 });
});

it('sees them fire when they should, and only then', () => {
  const run = promtool(['test', 'rules', 'alerts.test.yml']);
  expect(run.said).toContain('SUCCESS');
  expect(run.status).toBe(0);
});

it('is asked about every alert that there is', () => {
  const { groups } = parse(pageText('infra/prometheus/alerts.yml')) as {
    groups: { rules: { alert: string }[] }[];
  };
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const tested = pageText('infra/prometheus/alerts.test.yml').matchAll(/alertname="(\w+)"/g);
  expect([...new Set([...tested].map(([, alert]) => alert))].toSorted()).toEqual(alerts.toSorted());
});

it.each([
  ['agent', agentMetrics],
  ['consumer', consumerMetrics],
] as const)('has nothing to complain about in the page of the %s', async (_, pageOf) => {
  expect(promtool(['check', 'metrics'], (await pageOf()).text)).toEqual({ status: 0, said: '' });
});

// Whether the configurations that come with the packages are taken as they are, and with each of their offers taken up.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfiguration } from '../../src/config/load.ts';
import { consumerSettingsFor } from '../../src/consumer/settings.ts';
import { agentSettings } from '../support/sink-kinds.ts';
import { projectRoot } from '../support/source-files.ts';

const consumerSettings = await consumerSettingsFor();
const textOf = (name: string): string =>
  readFileSync(join(projectRoot, 'infra/packages/examples', name), 'utf8');
/** The text with the offers of these names taken up. */
const taking = (text: string, ...names: string[]): string =>
  names.reduce((all, name) => all.replace(new RegExp(`^# (?=${name}:)`, 'm'), ''), text);

test('the agent approves nothing and runs nothing, unless it is let', () => {
  const text = textOf('agent.yaml');
  const plain = parseConfiguration(text, 'agent.yaml', agentSettings);
  expect({ approval: plain.approval.enabled, hooksDir: plain.hooksDir }).toEqual({ approval: false });
  const taken = parseConfiguration(taking(text, 'approval', 'hooksDir'), 'agent.yaml', agentSettings);
  expect(taken.approval).toMatchObject({
    enabled: true,
    rules: [{ match: { sources: ['User'] }, action: 'approve' }],
  });
  expect(taken.hooksDir).toBe('/etc/scheduled-events-bridge/hooks.d');
});

test('the consumer signs, anchors and tells nobody, unless it is let', () => {
  const text = textOf('consumer.yaml');
  const plain = parseConfiguration(text, 'consumer.yaml', consumerSettings);
  expect({ signing: plain.signing, anchors: plain.anchors, notify: plain.notify }).toEqual({ anchors: [] });
  const all = taking(text, 'signing', 'anchors', 'notify');
  const taken = parseConfiguration(all, 'consumer.yaml', consumerSettings);
  expect(taken.signing?.keyFile).toContain('signing.key');
  expect(taken.anchors).toHaveLength(1);
  expect(Object.keys(taken.notify?.sinks ?? {})).toEqual(['ops']);
});

// The program as it is published: the bundle lives through maintenance like the source does.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundle } from '../../scripts/build.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { runNode, startNode } from '../support/process.ts';
import { readPrometheusPage } from '../support/prometheus-text.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('the bundle carries events to the hub, the webhook and the trail, and its demo adds up', async () => {
  using directory = temporaryDirectory();
  await bundle(directory.path);
  const words = ['demo', '--scenario', 'hardware-failure', '--speed', '1000'];
  const { exitCode, stdout, stderr } = await runNode([join(directory.path, 'seb.cjs'), ...words]);
  expect(stderr).toBe('');
  expect(stdout).toContain('2 POSTs of 2 that were due');
  expect(stdout).toContain('9 records in 9 entries, from 3 agents');
  expect(stdout).toContain('Nothing is missing and nothing came twice.');
  expect(exitCode).toBe(0);
}, 60_000);

test('the bundle serves the status of an agent, with its metrics', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  const dist = join(directory.path, 'dist');
  await bundle(dist);
  const file = join(directory.path, 'agent.json');
  const stateDir = join(directory.path, 'state');
  writeFileSync(file, JSON.stringify({ stateDir, imds: { endpoint: imds.url }, status: { listen: 0 } }));
  await using agent = startNode([join(dist, 'seb.cjs'), 'agent', '-c', file]);
  await agent.until('the status is served');
  const address = /"address":"([^"]+)"/.exec(agent.output().stderr)?.[1];
  const page = await (await fetch(`http://${address}/metrics`)).text();
  expect(readPrometheusPage(page).value('seb_document_age_seconds')).toBeGreaterThanOrEqual(0);
}, 60_000);

// `seb consumer`: how it starts, how it refuses to, and how it ends.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { runCommandLine } from '../support/command-line.ts';
import { startNode } from '../support/process.ts';
import { entriesIn, openSender } from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const cli = join(import.meta.dirname, '../../src/cli.ts');

function fileWith(directory: string, settings: object): string {
  const file = join(directory, 'consumer.yaml');
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

it.each(['SIGTERM', 'SIGINT'] as const)(
  'reads until %s, and warns of a secret in the file without showing it',
  async (signal) => {
    using directory = temporaryDirectory();
    await using hub = await startEventHubsEmulator();
    await using sender = openSender(hub);
    await sender.send(liveMigration());
    const path = join(directory.path, 'trail.db');
    const { connectionString, eventHubName } = hub;
    const file = fileWith(directory.path, { hub: { connectionString, eventHubName }, trail: { path } });
    await using running = startNode([cli, 'consumer', '-c', file]);
    await entriesIn(path, 3);
    running.child.kill(signal);
    expect(await running.ended()).toBe(signal === 'SIGINT' ? 130 : 0);
    const { stdout, stderr } = running.output();
    expect(stdout).toBe('');
    expect(stderr).toContain('"setting":"hub.connectionString"');
    expect(stderr).toContain('the hub is read');
    expect(stderr).not.toContain('not-a-secret-emulator-key');
  },
);

it('refuses to start without a file', async () => {
  const { exitCode, stderr } = await runCommandLine(['consumer', '-c', '/nowhere/consumer.yaml']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('/nowhere/consumer.yaml cannot be used');
});

it('refuses to start with a connection string that is none, a secret that is not there, a trail that is none', async () => {
  using directory = temporaryDirectory();
  const refusal = async (hub: object, path = join(directory.path, 'trail.db')): Promise<string> => {
    const file = fileWith(directory.path, { hub, trail: { path }, log: { level: 'silent' } });
    const { exitCode, stderr } = await runCommandLine(['consumer', '-c', file]);
    expect(exitCode).toBe(1);
    return stderr;
  };
  expect(await refusal({ connectionString: 'marker' })).toMatch(
    /^seb: hub\.connectionString is not [^\n]+\n$/,
  );
  expect(await refusal({ connectionString: 'marker' })).not.toContain('marker');
  expect(await refusal({ connectionString: { file: '/nowhere' } })).toBe(
    'seb: the secret at file:/nowhere cannot be read\n',
  );
  const hub = {
    connectionString: 'Endpoint=sb://localhost;SharedAccessKeyName=a;SharedAccessKey=b',
    eventHubName: 'c',
  };
  const other = join(directory.path, 'other.db');
  writeFileSync(
    other,
    'this is no SQLite file, but long enough to be taken for one at first sight'.repeat(20),
  );
  expect(await refusal(hub, other)).toContain(`seb: the trail at ${other} cannot be used: it is damaged`);
});

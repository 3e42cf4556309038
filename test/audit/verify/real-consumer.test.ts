// A trail that the consumer itself kept, sealed and anchored is verified: while it runs, after it stopped, and in a copy.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSigner } from '../../../src/audit/signing.ts';
import { startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { runCommandLine } from '../../support/command-line.ts';
import { entriesIn, keyBeside, openSender, startConsumer } from '../../support/running-consumer.ts';
import { liveMigration } from '../../support/synthetic.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

test('what the consumer keeps is verified with nothing found, by the settings or by what somebody else was given', async () => {
  using directory = temporaryDirectory();
  const at = (name: string): string => join(directory.path, name);
  const [path, notes, file] = [at('trail.db'), at('elsewhere/seals.notes'), at('consumer.yaml')];
  const anchors = [{ type: 'file', path: notes, interval: '1s' }];
  await using emulator = await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 2 }] });
  await using sender = openSender(emulator);
  const keyFile = keyBeside(path);
  writeFileSync(
    file,
    JSON.stringify({
      hub: { fullyQualifiedNamespace: 'ns.example', eventHubName: 'fleet' },
      ...{ trail: { path }, signing: { keyFile }, anchors },
    }),
  );
  const verify = async (...words: readonly string[]) => {
    const { exitCode, stdout, stderr } = await runCommandLine(['audit', 'verify', ...words]);
    return { exitCode, stderr, last: stdout.trimEnd().split('\n').at(-1) };
  };
  for (const round of [0, 1]) {
    await using consumer = startConsumer(path, emulator, { settings: { anchors } });
    await sender.send([...liveMigration(round, 0), ...liveMigration(round, 1)]);
    await entriesIn(path, 6 * (round + 1));
    await until('an anchored head', () => existsSync(notes));

    expect(await verify('-c', file)).toMatchObject({ exitCode: 0, stderr: '' });
    await consumer.stop();
    expect(await verify('-c', file)).toEqual({
      ...{ exitCode: 0, stderr: '' },
      last: expect.stringMatching(
        new RegExp(`^VERIFIED ${6 * (round + 1)} entries, .*, \\d partitions?, anchored`),
      ),
    });
  }
  const [key = ''] = openSigner([keyFile]).keys;
  expect(await runCommandLine(['audit', 'export', '-c', file, '--to', at('copy')])).toMatchObject({
    exitCode: 0,
  });
  expect(await verify('--trail', at('copy'), '--key', key, '--anchor', notes)).toMatchObject({ exitCode: 0 });
  expect(await verify('--trail', at('copy'), '--key', key)).toMatchObject({ exitCode: 11 });
});

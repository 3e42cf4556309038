// Anchors get the newest signed head, once, in their interval; what they hold tells an older copy of the trail.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newKey, openSigner } from '../../src/audit/signing.ts';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { anchors as anchorSettings } from '../../src/config/consumer-trail.ts';
import type { AnchorSettings } from '../../src/consumer/anchors/anchor.ts';
import { type NamedAnchor, openAnchors } from '../../src/consumer/anchors/registry.ts';
import { type KeepingNews, openKeeping } from '../../src/consumer/keeping.ts';
import { openProgress } from '../../src/consumer/progress.ts';
import { parseCheckpoint } from '../../src/core/checkpoint.ts';
import { notesIn } from '../../src/core/note-list.ts';
import { openNote, parseVerifierKey } from '../../src/core/signed-note.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { type SteppedClock, steppedClock } from '../support/clocks.ts';
import { runCommandLine } from '../support/command-line.ts';
import { openInbox } from '../support/inbox.ts';
import { factsIn, sealsIn } from '../support/own-streams.ts';
import { startNode } from '../support/process.ts';
import { recordingLog } from '../support/recording-log.ts';
import { listenSilently } from '../support/silent-server.ts';
import { asHubEvents, liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const cli = join(import.meta.dirname, '../../src/cli.ts');
const stream = 'ns/hub/0/20261110T000000000Z';
const second = 1_000;
const minute = 60 * second;

function openWorld() {
  const directory = temporaryDirectory();
  const keyFile = join(directory.path, 'key');
  writeFileSync(keyFile, newKey('test.example/fleet').privateKey, { mode: 0o600 });
  return {
    path: join(directory.path, 'trail.db'),
    notes: join(directory.path, 'elsewhere', 'seals.notes'),
    keyFile,
    clock: steppedClock(),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}
type World = ReturnType<typeof openWorld>;

const fileAnchor = (path: string, interval = 10 * minute): AnchorSettings => ({
  type: 'file',
  path,
  interval,
});

/** A consumer's keeping, without a hub. */
async function startKeeping(world: World, anchors: readonly AnchorSettings[], clock: Clock = world.clock) {
  const [log, news, stopping] = [recordingLog(), [] as KeepingNews[], new AbortController()];
  const signer = openSigner([world.keyFile]);
  const trail = openSqliteTrail(world.path, { sign: signer.sign, now: clock.now });
  const opened = await openAnchors(anchors);
  const keeping = openKeeping({
    ...{
      trail,
      anchors: opened.all.map(counted),
      clock,
      log,
      progress: openProgress(clock),
      signal: stopping.signal,
    },
    ...{ instance: 'one', settingsSha256: null, archive: null, keys: signer.keys },
    tell: (each) => void news.push(each),
  });
  await keeping.begin();
  const over = Promise.withResolvers<void>();
  const ended = keeping.beside(() => over.promise);
  const stop = async (): Promise<void> => {
    stopping.abort();
    over.resolve();
    await ended;
  };
  return {
    ...{ trail, log, news, stop, ended },
    /** Receives one event of the hub. */
    receive: async () => {
      const known = await trail.position(stream);
      if (known.status !== 'known') throw new Error('the trail cannot be read');
      const next = known.position.lastSequenceNumber + 1;
      await trail.append(stream, known.position, asHubEvents([liveMigration()[0] ?? ''], next));
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      await opened[Symbol.asyncDispose]();
      await trail[Symbol.asyncDispose]();
    },
  };
}

let underway = 0;

/** Time goes on when the disk has done what the time before asked of it. */
async function pass(clock: SteppedClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5 * second) {
    await clock.pass(Math.min(5 * second, ms - passed));
    while (underway > 0) await until('the disk', () => underway === 0);
  }
}

/** The same anchor, and what is under way in it is counted. */
function counted(named: NamedAnchor): NamedAnchor {
  const { put, newest } = named.anchor;
  const count = async <Result>(work: Promise<Result>): Promise<Result> => {
    underway += 1;
    return await work.finally(() => {
      underway -= 1;
    });
  };
  const anchor = {
    ...named.anchor,
    put: (...given: Parameters<typeof put>) => count(put(...given)),
    newest: newest && ((...given: Parameters<typeof newest>) => count(newest(...given))),
  };
  return { ...named, anchor };
}

const checkpointsIn = (world: World) => {
  const keys = openSigner([world.keyFile]).keys.flatMap((text) => {
    const parsed = parseVerifierKey(text);
    return parsed.status === 'parsed' ? [parsed.key] : [];
  });
  return notesIn(existsSync(world.notes) ? readFileSync(world.notes, 'utf8') : '').map((note) => {
    const opened = openNote(note, keys);
    return opened.status === 'verified' ? parseCheckpoint(opened.text) : null;
  });
};
const sizesIn = (world: World): (number | undefined)[] => checkpointsIn(world).map((each) => each?.size);
const kindsIn = (world: World): string[] => factsIn(world.path).map(({ kind }) => kind);

test('an anchor gets the first head at once, then the newest one in its interval, and none that did not change', async () => {
  using world = openWorld();
  await using keeping = await startKeeping(world, [fileAnchor(world.notes)]);
  await pass(world.clock, minute);
  expect(sizesIn(world)).toEqual([1]);
  for (let time = 0; time < 11; time++) {
    await keeping.receive();
    await pass(world.clock, minute);
  }
  expect(sizesIn(world)).toHaveLength(2);
  await pass(world.clock, 30 * minute);
  expect(sizesIn(world)).toHaveLength(3);
  expect(sizesIn(world).at(-1)).toBe(sealsIn(world.path).length);
  const anchored = factsIn(world.path).filter((fact) => fact.kind === 'anchored');
  expect(anchored.map(({ anchor }) => anchor)).toEqual(Array(3).fill(`file:${world.notes}`));
  expect(anchored.map(({ size }) => size)).toEqual(sizesIn(world));
  const [one = 0, two = 0, three = 0] = anchored.map(({ at }) => at);
  expect([two - one, three - two].every((gap) => gap >= 10 * minute && gap < 11 * minute)).toBe(true);
});

test('the stop itself is journaled, sealed and anchored, and the next start goes on from there', async () => {
  using world = openWorld();
  {
    await using keeping = await startKeeping(world, [fileAnchor(world.notes)]);
    await pass(world.clock, minute);
    await keeping.receive();
  }
  expect(kindsIn(world)).toEqual([
    'consumer-started',
    'keys-changed',
    'anchored',
    'stream-began',
    'consumer-stopped',
    'anchored',
  ]);
  const sealed = sealsIn(world.path)
    .at(-1)
    ?.heads.find(({ stream: name }) => name.endsWith('/journal'));
  expect(sealed?.size).toBe(5);
  expect(sizesIn(world)).toEqual([1, sealsIn(world.path).length]);
  await using keeping = await startKeeping(world, [fileAnchor(world.notes)]);
  await pass(world.clock, minute);
  expect(keeping.log.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  expect(kindsIn(world).slice(6)).toEqual(['consumer-started']);
});

test('a head that was brought before the consumer was killed is not brought twice, and is journaled', async () => {
  using world = openWorld();
  {
    await using keeping = await startKeeping(world, []);
    await keeping.receive();
  }
  // Killed between the anchor and the journal: the anchor has what the journal does not know of.
  const trail = openSqliteTrail(world.path);
  const heads = await trail.heads();
  await trail[Symbol.asyncDispose]();
  const seal = heads.status === 'known' ? heads.heads.find(({ kind }) => kind === 'seal') : undefined;
  await using anchors = await openAnchors([fileAnchor(world.notes)]);
  await anchors.all[0]?.anchor.put(seal?.name ?? '', seal?.note ?? '', new AbortController().signal);
  await using keeping = await startKeeping(world, [fileAnchor(world.notes)]);
  await pass(world.clock, second);
  expect(sizesIn(world)[0]).toBe(seal?.size);
  await pass(world.clock, minute);
  expect(new Set(sizesIn(world)).size).toBe(sizesIn(world).length);
  expect(kindsIn(world)).toContain('anchored');
  expect(keeping.log.lines.filter(({ level }) => level !== 'info')).toEqual([]);
});

test('an older copy of the trail that was put back never signs another past: its own streams begin anew', async () => {
  using world = openWorld();
  const copy = `${world.path}.copy`;
  {
    await using keeping = await startKeeping(world, [fileAnchor(world.notes)]);
    await keeping.receive();
  }
  copyFileSync(world.path, copy);
  const before = checkpointsIn(world).at(-1);
  {
    await using keeping = await startKeeping(world, [fileAnchor(world.notes)]);
    await keeping.receive();
    await pass(world.clock, 11 * minute);
  }
  const last = checkpointsIn(world).at(-1);
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${world.path}${suffix}`, { force: true });
  copyFileSync(copy, world.path);
  await using keeping = await startKeeping(world, [fileAnchor(world.notes)]);
  expect(keeping.log.lines[0]).toMatchObject({ level: 'error', fields: { anchoredSize: last?.size } });
  await keeping.receive();
  await pass(world.clock, 11 * minute);
  const earlier = last?.origin.split('/')[1];
  const restored = factsIn(world.path).findIndex(({ kind }) => kind === 'restored');
  expect(factsIn(world.path).slice(restored)).toMatchObject([
    { kind: 'restored', earlier, anchoredSize: last?.size, anchor: `file:${world.notes}` },
    { kind: 'consumer-started' },
    { kind: 'keys-changed' },
    { kind: 'anchored' },
    { kind: 'anchored' },
  ]);
  // Nothing was signed of the old streams beyond the copy, and the anchor holds the new ones now.
  const streams = await keeping.trail.heads();
  const old = streams.status === 'known' ? streams.heads.find(({ name }) => name === last?.origin) : null;
  expect(old?.size).toBe(before?.size);
  expect(checkpointsIn(world).at(-1)?.origin).not.toBe(last?.origin);
  // What the hub still holds was read again: the first seal of the new stream pins the old ones too.
  const named = sealsIn(world.path).find(({ stream: name }) => !name.includes(earlier ?? ''))?.heads ?? [];
  expect(named.map(({ stream: name }) => name)).toEqual(
    expect.arrayContaining([stream, `trail/${earlier}/journal`, last?.origin]),
  );
});

test('a copy that was put back and has grown past the anchor meanwhile is known by its root at that size', async () => {
  using world = openWorld();
  const copy = `${world.path}.copy`;
  {
    await using _keeping = await startKeeping(world, []);
  }
  copyFileSync(world.path, copy);
  {
    await using keeping = await startKeeping(world, [fileAnchor(world.notes)]);
    await keeping.receive();
  }
  const last = checkpointsIn(world).at(-1);
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${world.path}${suffix}`, { force: true });
  copyFileSync(copy, world.path);
  {
    // Without the anchor nothing is noticed: another past is sealed and signed.
    await using keeping = await startKeeping(world, []);
    for (let time = 0; time < 4; time++) {
      await keeping.receive();
      await pass(world.clock, minute);
    }
  }
  expect(sealsIn(world.path).length).toBeGreaterThan(last?.size ?? 0);
  await using keeping = await startKeeping(world, [fileAnchor(world.notes)]);
  expect(keeping.log.lines[0]).toMatchObject({ level: 'error', fields: { anchoredSize: last?.size } });
  expect(kindsIn(world)).toContain('restored');
});

test('a trail that was cut while the consumer runs is found before its next head is brought', async () => {
  using world = openWorld();
  await using keeping = await startKeeping(world, [fileAnchor(world.notes, minute)]);
  await pass(world.clock, minute);
  const signer = openSigner([world.keyFile]);
  const { origin = '', size = 0 } = checkpointsIn(world)[0] ?? {};
  // What another past of this trail would have brought, signed by its key.
  const foreign = signer.sign(origin, { size: size + 5, range: [new Uint8Array(32), new Uint8Array(32)] });
  writeFileSync(world.notes, `${foreign}\n`, { flag: 'a' });
  await keeping.receive();
  await pass(world.clock, 4 * minute);
  expect(keeping.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  expect(kindsIn(world).filter((kind) => kind === 'restored')).toHaveLength(1);
  expect(checkpointsIn(world).at(-1)?.origin).not.toBe(origin);
});

test('what nobody we know signed is not believed: it is said once, and heads are brought all the same', async () => {
  using world = openWorld();
  await using keeping = await startKeeping(world, [fileAnchor(world.notes, minute)]);
  await pass(world.clock, minute);
  const other = join(world.keyFile, '..', 'other');
  writeFileSync(other, newKey('somebody.example').privateKey, { mode: 0o600 });
  const { origin = '' } = checkpointsIn(world)[0] ?? {};
  const forged = openSigner([other]).sign(origin, { size: 1_000, range: Array(6).fill(new Uint8Array(32)) });
  writeFileSync(world.notes, `${forged}\n`, { flag: 'a' });
  for (let time = 0; time < 3; time++) {
    await keeping.receive();
    await pass(world.clock, minute);
  }
  const warned = keeping.log.lines.filter(({ level }) => level === 'warn');
  expect(warned.map(({ fields }) => fields['reason'])).toEqual(['unknown-keys']);
  expect(kindsIn(world)).not.toContain('restored');
  expect(checkpointsIn(world).at(-1)?.origin).toBe(origin);
});

test('an anchor that fails is said, journaled and counted once, and made up for', async () => {
  using world = openWorld();
  const directory = join(world.notes, '..');
  writeFileSync(directory, 'a file where the directory should be');
  await using keeping = await startKeeping(world, [fileAnchor(world.notes, minute)]);
  for (let time = 0; time < 5; time++) {
    await keeping.receive();
    await pass(world.clock, minute);
  }
  const failing = keeping.news.filter((news) => news.kind === 'anchor' && news.fault !== null);
  expect(failing.length).toBeGreaterThan(3);
  expect(kindsIn(world).filter((kind) => kind === 'anchor-failed')).toHaveLength(1);
  rmSync(directory);
  await pass(world.clock, 10 * minute);
  expect(keeping.log.lines.map(({ message }) => message)).toEqual([
    'not every anchor could be asked what it holds of this trail; each is asked again before it gets its next head',
    'the anchor does not take the head of the trail; it is tried again',
    'the anchor takes heads again',
  ]);
  expect(sizesIn(world).at(-1)).toBe(sealsIn(world.path).length);
});

test('an anchor that hangs delays neither seals nor the end, which is sealed', async () => {
  using world = openWorld();
  await using server = await listenSilently();
  const [webhook] = anchorSettings.parse([
    { type: 'webhook', url: `http://127.0.0.1:${server.port}/heads`, allowHttp: true },
  ]);
  if (webhook === undefined) throw new Error('no anchor');
  await using keeping = await startKeeping(world, [webhook], systemClock);
  await until('the anchor to hang', () => server.connections === 1);
  await keeping.receive();
  const begun = performance.now();
  await keeping.stop();
  // Whoever ends the process gives it 10 s.
  expect(performance.now() - begun).toBeLessThan(9_000);
  expect(kindsIn(world).at(-1)).toBe('consumer-stopped');
  const heads = new Map(
    sealsIn(world.path).flatMap((seal) => seal.heads.map((head) => [head.stream, head.size])),
  );
  expect([...heads.values()].reduce((sum, size) => sum + size, 0)).toBe(1 + factsIn(world.path).length);
});

test('a consumer that is killed between a seal and its anchor brings that head after its restart', async () => {
  using world = openWorld();
  await using hub = await startEventHubsEmulator();
  await using inbox = await openInbox({ answer: { fault: 'hang' } });
  const file = join(world.keyFile, '..', 'consumer.yaml');
  const { connectionString, eventHubName } = hub;
  const settings = {
    ...{ hub: { connectionString, eventHubName }, trail: { path: world.path } },
    signing: { keyFile: world.keyFile },
    anchors: [{ type: 'webhook', url: `${inbox.url}/heads`, allowHttp: true }],
  };
  writeFileSync(file, JSON.stringify(settings));
  {
    await using running = startNode([cli, 'consumer', '-c', file]);
    await until('the head to be posted', () => inbox.requests.length === 1, 40_000);
    running.child.kill('SIGKILL');
    await running.ended();
  }
  expect(kindsIn(world)).not.toContain('anchored');
  inbox.answer({});
  await using running = startNode([cli, 'consumer', '-c', file]);
  await until('the head to be anchored', () => kindsIn(world).includes('anchored'), 40_000);
  running.child.kill('SIGTERM');
  expect(await running.ended()).toBe(0);
  const posted = inbox.requests.map(({ body }) => body.toString('utf8'));
  expect(posted[1]?.split('\n')[0]).toBe(posted[0]?.split('\n')[0]);
  expect(Number(posted[1]?.split('\n')[1])).toBeGreaterThanOrEqual(Number(posted[0]?.split('\n')[1]));
  expect(inbox.requests[1]?.headers['content-type']).toBe('text/plain; charset=utf-8');
  // An auditor comes to the same hash.
  const { stdout } = await runCommandLine(['config', 'show', '-c', file]);
  const settingsSha256 = createHash('sha256').update(stdout).digest('hex');
  const configured = factsIn(world.path).filter((fact) => fact.kind === 'configuration-changed');
  expect(configured).toMatchObject([{ settingsSha256 }]);
  // The stop is sealed and anchored as well.
  expect(Number(posted.at(-1)?.split('\n')[1])).toBe(sealsIn(world.path).length);
}, 100_000);

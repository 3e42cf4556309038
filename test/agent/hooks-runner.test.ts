// The part of the agent that runs hooks, by itself: what it says of the preparation, and what a disk, a copy of it or a reload do.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openHookRunner } from '../../src/agent/hooks/hook-runner.ts';
import type { ReactionRuntime } from '../../src/agent/reactions.ts';
import { systemClock } from '../../src/clock.ts';
import { eventKey } from '../../src/core/document.ts';
import { type Observer, unknownObserver } from '../../src/core/observer.ts';
import { emptyWatch, observe, type Watch } from '../../src/core/watch.ts';
import { openJournal } from '../../src/delivery/journal.ts';
import { silentMeters } from '../../src/delivery/meters.ts';
import type { Outbox } from '../../src/delivery/outbox/outbox.ts';
import { openWake } from '../../src/delivery/wake.ts';
import { documentOf } from '../support/documents.ts';
import { hookEvent, hookScripts } from '../support/hooks.ts';
import { openOutbox } from '../support/outboxes.ts';
import { sampleObserver } from '../support/records.ts';
import { agentSettings } from '../support/sink-kinds.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const a = hookEvent('a');
const keyOfA = eventKey(a.EventId);

/** A runner on a real outbox; what it sees is shown to it as the watch loop does. */
function openStage(directory: string, settings: object, known: Observer = sampleObserver) {
  mkdirSync(directory, { recursive: true });
  const open = openOutbox(directory, ['local'], { clock: systemClock });
  const { outbox, log } = open;
  const disk = { isFull: false };
  const commit = outbox.commit.bind(outbox);
  const full: ReturnType<Outbox['commit']> = { ok: false, fault: 'full' };
  outbox.commit = (...what) => (disk.isFull ? full : commit(...what));
  const journal = openJournal(outbox, silentMeters, log);
  const observer = { current: () => known, known: async () => undefined, refresh: async () => undefined };
  const stopping = new AbortController();
  const runtime = {
    settings: agentSettings.parse({ imds: { endpoint: 'http://127.0.0.1:9' }, ...settings }),
    ...{
      outbox,
      journal,
      observer,
      bootId: 'boot',
      wake: openWake(),
      clock: systemClock,
      log,
      dataSinks: [],
    },
    ...{ approved: () => undefined, signal: stopping.signal },
  } satisfies Partial<ReactionRuntime>;
  // It asks no metadata service.
  const runner = openHookRunner(runtime as unknown as ReactionRuntime);
  let watch: Watch = emptyWatch('boot');
  return {
    ...{ runner, outbox, disk, log, stopping },
    know: (observer: Observer) => {
      known = observer;
    },
    /** One good document. */
    see(...events: readonly object[]): void {
      const moment = { now: Date.now(), pollGapMs: 1_000, bootId: 'boot', firstSinceStart: false };
      const before = watch;
      const seen = observe(before, documentOf(events), moment);
      watch = seen.watch;
      const circumstances = { watch, before, now: moment.now, firstSinceStart: false };
      const { drafts, notes } = seen.changed
        ? runner.foresee({ ...circumstances, observations: seen.observations })
        : { drafts: [], notes: {} };
      const committed = seen.changed ? journal.commit(watch, drafts, notes) : journal.retry();
      if (committed !== null) runner.act(watch, moment.now);
    },
    preparation: () => runner.preparationOf(keyOfA, watch),
    notes: () => {
      const found = outbox.notes('deed/hook/');
      return found.ok ? found.value : new Map<string, string>();
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await runner[Symbol.asyncDispose]();
      open[Symbol.dispose]();
    },
  };
}

const waiting = (go: string) => `say "$SEB_PHASE"; while [ ! -e '${go}' ]; do sleep 0.02; done`;

describe.concurrent('the runner', () => {
  test('says of an event how far its preparation is, from nothing to its end', async () => {
    using directory = temporaryDirectory();
    const scripts = hookScripts(directory.path);
    const program = scripts.script('hook', waiting(scripts.at('go')));
    await using stage = openStage(join(directory.path, 'state'), {
      hooks: [{ on: 'prepare', types: ['Reboot'], command: [program] }],
    });
    expect(stage.preparation()).toBe('none');
    stage.see(hookEvent('a', { EventType: 'Freeze' }));
    expect(stage.preparation()).toBe('none');
    stage.see(a);
    expect(stage.preparation()).toBe('pending');
    await until('the hook', () => scripts.said().length === 1);
    expect(stage.preparation()).toBe('pending');
    writeFileSync(scripts.at('go'), '');
    await until('its end', () => stage.preparation() === 'succeeded');
    stage.see(hookEvent('a', { EventStatus: 'Started' }));
    expect(stage.preparation()).toBe('succeeded');
  });

  test('starts nothing while the disk does not take that it starts, and as soon as it does', async () => {
    using directory = temporaryDirectory();
    const { script, said } = hookScripts(directory.path);
    const program = script('hook', 'say "$SEB_PHASE"');
    await using stage = openStage(join(directory.path, 'state'), {
      hooks: ['prepare', 'recover'].map((on) => ({ on, command: [program] })),
    });
    stage.see(a);
    await until('the prepare', () => stage.preparation() === 'succeeded');
    stage.disk.isFull = true;
    stage.see();
    for (const _ of [1, 2, 3]) stage.see();
    await delay(100);
    expect(said()).toEqual(['prepare']);
    stage.disk.isFull = false;
    stage.see();
    await until('the recover', () => said().length === 2);
  });

  test('counts a prepare that the disk held up until the event started as failed, and says once why it waited', async () => {
    using directory = temporaryDirectory();
    const { script, said } = hookScripts(directory.path);
    await using stage = openStage(join(directory.path, 'state'), {
      hooks: [{ on: 'prepare', command: [script('hook', 'say never')] }],
    });
    const moment = { now: Date.now(), pollGapMs: 1_000, bootId: 'boot', firstSinceStart: false };
    const announced = observe(emptyWatch('boot'), documentOf([a]), moment).watch;
    const started = observe(announced, documentOf([{ ...a, EventStatus: 'Started' }]), moment).watch;
    stage.disk.isFull = true;
    for (const _ of [1, 2]) stage.runner.act(announced, moment.now);
    expect(stage.runner.preparationOf(keyOfA, announced)).toBe('pending');
    expect(stage.log.lines.filter(({ message }) => message.startsWith('hooks wait'))).toHaveLength(1);
    stage.disk.isFull = false;
    stage.runner.act(started, moment.now);
    expect(stage.runner.preparationOf(keyOfA, started)).toBe('failed');
    expect(stage.notes().get(`deed/hook/${keyOfA}`)).toContain('"outcome":"not-started"');
    expect(said()).toEqual([]);
  });

  test('prepares anew for an event that ended and came back while the prepare of its first life still ran', async () => {
    using directory = temporaryDirectory();
    const scripts = hookScripts(directory.path);
    const program = scripts.script('hook', waiting(scripts.at('go')));
    await using stage = openStage(join(directory.path, 'state'), {
      hooks: ['prepare', 'recover'].map((on) => ({ on, command: [program] })),
    });
    stage.see(a);
    await until('the first prepare', () => scripts.said().length === 1);
    stage.see();
    stage.see(a);
    writeFileSync(scripts.at('go'), '');
    await until('the second prepare', () => scripts.said().length === 2);
    await until('its end', () => stage.preparation() === 'succeeded');
    stage.see();
    await until('the recover', () => scripts.said().length === 3);
    expect(scripts.said()).toEqual(['prepare', 'prepare', 'recover']);
  });

  test('notes the end of an event in what is committed with it, so that the recover outlives a crash right then', async () => {
    using directory = temporaryDirectory();
    const { script, said } = hookScripts(directory.path);
    const settings = { hooks: [{ on: 'recover', command: [script('hook', 'say "$SEB_ENDING"')] }] };
    {
      await using stage = openStage(join(directory.path, 'state'), settings);
      stage.see(a);
      // As after a crash: what is committed is on the disk, and nothing was begun.
      stage.stopping.abort();
      stage.see();
      expect(stage.notes().get(`deed/hook/${keyOfA}`)).toContain('"ending":"canceled"');
    }
    await using stage = openStage(join(directory.path, 'state'), settings);
    stage.see();
    await until('the recover', () => said().length === 1);
    expect(said()).toEqual(['canceled']);
  });

  test('waits for its folder where that is not there for a moment: nothing passes for prepared, and no recover is lost', async () => {
    using directory = temporaryDirectory();
    const scripts = hookScripts(directory.path);
    scripts.script('away/Reboot/prepare', 'say prepare');
    scripts.script('away/Reboot/recover', 'say "recover $SEB_PREPARED"');
    const [here, away] = [scripts.at('hooks.d'), scripts.at('away')];
    await using stage = openStage(join(directory.path, 'state'), { hooksDir: here });
    stage.see(a);
    stage.see(a);
    expect(stage.preparation()).toBe('pending');
    renameSync(away, here);
    stage.see(a);
    await until('the prepare', () => stage.preparation() === 'succeeded');
    renameSync(here, away);
    stage.see();
    stage.see();
    await delay(50);
    expect(scripts.said()).toEqual(['prepare']);
    renameSync(away, here);
    stage.see();
    await until('the recover', () => scripts.said().length === 2);
    expect(scripts.said()).toEqual(['prepare', 'recover yes']);
    expect(stage.log.lines.filter(({ message }) => message.includes('is not there'))).toHaveLength(2);
  });

  test('keeps its notes for a while after all is done, and then forgets them', async () => {
    using directory = temporaryDirectory();
    const { script, said } = hookScripts(directory.path);
    await using stage = openStage(join(directory.path, 'state'), {
      hooks: [{ on: 'recover', command: [script('hook', 'say done')] }],
    });
    stage.see(a);
    stage.see();
    await until('the recover', () => said().length === 1);
    const doneAt = await until('the end to be noted', () => {
      stage.see();
      return JSON.parse(stage.notes().get(`deed/hook/${keyOfA}`) ?? '{}').doneAt as number | null;
    });
    stage.runner.act(emptyWatch('boot'), doneAt + 3_600_000);
    expect(stage.notes().size).toBe(1);
    stage.runner.act(emptyWatch('boot'), doneAt + 3_600_001);
    expect(stage.notes().size).toBe(0);
  });

  test('forgets what a disk that was copied from another VM says, once it knows which VM this is', async () => {
    using directory = temporaryDirectory();
    const { script, said } = hookScripts(directory.path);
    const settings = {
      hooks: ['prepare', 'recover'].map((on) => ({ on, command: [script('hook', 'say "$SEB_PHASE"')] })),
    };
    {
      await using original = openStage(join(directory.path, 'state'), settings);
      original.outbox.adopt('original');
      original.see(a);
      await until('the prepare', () => original.preparation() === 'succeeded');
    }
    await using copy = openStage(join(directory.path, 'state'), settings, unknownObserver);
    copy.see();
    copy.outbox.adopt('copy');
    copy.know(sampleObserver);
    copy.see();
    copy.see();
    await delay(200);
    expect(said()).toEqual(['prepare']);
    expect(copy.notes().size).toBe(0);
  });

  test('is idle when no hook is in hand, and then lets a reload end it before the next one begins', async () => {
    using directory = temporaryDirectory();
    const scripts = hookScripts(directory.path);
    const first = scripts.script('first', waiting(scripts.at('go')));
    const second = scripts.script('second', 'say second');
    await using stage = openStage(join(directory.path, 'state'), {
      hooks: [first, second].map((program) => ({ on: 'prepare', command: [program] })),
    });
    await stage.runner.idle();
    stage.see(a);
    // It holds back for a moment, in which the caller may end it.
    await until('the first hook', () => scripts.said().length === 1);
    let isIdle = false;
    const idle = stage.runner.idle().then(() => {
      isIdle = true;
    });
    await delay(100);
    expect(isIdle).toBe(false);
    writeFileSync(scripts.at('go'), '');
    await idle;
    stage.see(a);
    await delay(100);
    expect(scripts.said()).toEqual(['prepare']);
    // Whoever asked and did not end it stops nothing for long.
    await until('the second hook', () => scripts.said().length === 2);
  });

  test('runs hooks of four events at a time and of two more that are pressing, those that start first before the others', async () => {
    using directory = temporaryDirectory();
    const scripts = hookScripts(directory.path);
    const program = scripts.script(
      'hook',
      `say "$SEB_DESCRIPTION"; while [ ! -e '${scripts.at('go')}' ]; do sleep 0.02; done`,
    );
    await using stage = openStage(join(directory.path, 'state'), {
      hooks: [{ on: 'prepare', command: [program] }],
    });
    const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toUTCString();
    const events = [9, 8, 7, 6, 5, 4].map((minutes) =>
      hookEvent(String(minutes), { NotBefore: inMinutes(minutes) }),
    );
    stage.see(...events);
    await until('four hooks', () => scripts.said().length === 4);
    stage.see(...events);
    await delay(150);
    expect(scripts.said().toSorted()).toEqual(['event 4', 'event 5', 'event 6', 'event 7']);
    // A notice of less than two minutes waits behind none of them, as long as there are no more than two such.
    const pressing = ['a', 'b', 'c'].map((letter) => hookEvent(letter, { NotBefore: inMinutes(0.5) }));
    stage.see(...events, ...pressing);
    await until('two more hooks', () => scripts.said().length === 6);
    await delay(150);
    expect(scripts.said().slice(4).toSorted()).toEqual(['event a', 'event b']);
    writeFileSync(scripts.at('go'), '');
    await until('all hooks', () => scripts.said().length === 9);
  });
});

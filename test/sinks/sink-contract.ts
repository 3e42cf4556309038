// What every sink must do, whatever it is made of: each sink's test runs this once.
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { SinkSettings } from '../../src/sinks/index.ts';
import { openPassingMemory } from '../../src/sinks/memory.ts';
import type { OutgoingRecord, Sink, SinkContext } from '../../src/sinks/sink.ts';
import { outgoing, outgoingRecords, sampleRecord } from '../support/records.ts';
import { openSink, sinkSettings } from '../support/sink-kinds.ts';

/** A sink with a real other end, as a test of this contract needs it. */
export interface SinkSubject extends AsyncDisposable {
  /** Opens the sink; called once in each test. */
  open(): Sink;
  /** Whether anything at all reached the other end, such as a connection. */
  touched(): Promise<boolean>;
  /** What arrived, in order, without what the sink puts around each record. */
  received(): Promise<readonly Buffer[]>;
  /** What arrives for a record; its own bytes unless given. */
  expected?(outgoing: OutgoingRecord): string;
  /** From now on the other end fails. */
  break(): Promise<void>;
  /** From now on the other end never answers, where an other end can do that. */
  stall?(): Promise<void>;
  /** Whether the sink remembers what it said, so that nothing is sent for a record that is given again. */
  readonly remembers?: boolean;
  /** What the sink was opened with, when that holds secrets. */
  readonly settings?: unknown;
  /** A text that stands in the secrets of the settings. */
  readonly secret?: string;
}

export const sinkContext: SinkContext = {
  imdsEndpoint: 'http://127.0.0.1:9',
  version: '1.0.0',
  memory: openPassingMemory(),
};

/** Opens a sink as the programs do: from settings as a configuration file has them. */
export function openFromSettings(input: unknown, context: SinkContext = sinkContext) {
  const settings: SinkSettings = sinkSettings.parse(input);
  return { settings, ...openSink('under-test', settings, context) };
}

/** A signal that never aborts. */
export const patience = (): AbortSignal => new AbortController().signal;

/** For sinks whose other end can keep them waiting. */
export function keepsTheContractOfWaiting(type: string, openSubject: () => Promise<SinkSubject>): void {
  it(`lets the signal end an attempt of ${type} that nobody answers`, async () => {
    await using subject = await openSubject();
    await using sink = subject.open();
    await subject.stall?.();
    const stop = new AbortController();
    const sending = sink.send(bulky(), stop.signal);
    const early = await Promise.race([sending, delay(50, 'no answer')]);
    stop.abort();
    expect([early, await sending]).toEqual(['no answer', { status: 'retryable', reason: 'aborted' }]);
    await subject.break();
  });
}

/** Runs the contract. @param type the sink's `type` */
export function keepsTheSinkContract(type: string, openSubject: () => Promise<SinkSubject>): void {
  describe(`the sink contract, kept by ${type}`, () => {
    it('reaches for nothing before the first record', async () => {
      await using subject = await openSubject();
      await subject.open()[Symbol.asyncDispose]();
      expect(await subject.touched()).toBe(false);
    });

    it('delivers what it was given, to the byte and in order', async () => {
      await using subject = await openSubject();
      await using sink = subject.open();
      const records = outgoingRecords(5);
      for (const record of records) {
        expect(await sink.send(record, patience())).toEqual({ status: 'delivered' });
      }
      const expected = records.map((record) => subject.expected?.(record) ?? record.bytes.toString());
      expect((await subject.received()).map(String)).toEqual(expected);
    });

    it('takes a record again when it is given again, and sends it again unless it remembers', async () => {
      await using subject = await openSubject();
      await using sink = subject.open();
      const record = outgoing(sampleRecord());
      await sink.send(record, patience());
      expect(await sink.send(record, patience())).toEqual({ status: 'delivered' });
      expect(await subject.received()).toHaveLength(subject.remembers === true ? 1 : 2);
    });

    it('does not begin an attempt whose signal has aborted', async () => {
      await using subject = await openSubject();
      await using sink = subject.open();
      const outcome = await sink.send(outgoing(sampleRecord()), AbortSignal.abort());
      expect(outcome).toEqual({ status: 'retryable', reason: 'aborted' });
      expect(await subject.received()).toHaveLength(0);
    });

    it('answers a failure with an outcome that is neither a throw nor a delivery', async () => {
      await using subject = await openSubject();
      await using sink = subject.open();
      await subject.break();
      const outcome = await sink.send(outgoing(sampleRecord()), patience());
      expect(['retryable', 'rejected', 'unavailable']).toContain(outcome.status);
    });

    it('finds the other end in a check, and leaves nothing there', async () => {
      await using subject = await openSubject();
      await using sink = subject.open();
      expect(await sink.check(patience())).toMatchObject({ ok: true });
      expect(await subject.received()).toHaveLength(0);
    });

    it('says in a check that the other end fails', async () => {
      await using subject = await openSubject();
      await using sink = subject.open();
      await subject.break();
      expect(await sink.check(patience())).toMatchObject({ ok: false });
    });

    it('finishes what is under way before it is disposed of', async () => {
      await using subject = await openSubject();
      const sink = subject.open();
      const sending = sink.send(outgoing(sampleRecord()), patience());
      await sink[Symbol.asyncDispose]();
      const settled = await Promise.race([sending, immediate('still under way')]);
      expect(settled).toEqual({ status: 'delivered' });
      expect(await subject.received()).toHaveLength(1);
    });

    it('can be disposed of twice, and sends nothing afterwards', async () => {
      await using subject = await openSubject();
      const sink = subject.open();
      await sink[Symbol.asyncDispose]();
      await sink[Symbol.asyncDispose]();
      const outcome = await sink.send(outgoing(sampleRecord()), patience());
      expect(outcome).toEqual({ status: 'retryable', reason: 'aborted' });
      expect(await subject.received()).toHaveLength(0);
    });

    it('tells no secret, whether it works or fails', async () => {
      await using subject = await openSubject();
      await using sink = subject.open();
      const said: unknown[] = [sink, subject.settings, await sink.check(patience())];
      said.push(await sink.send(outgoing(sampleRecord()), patience()));
      await subject.break();
      said.push(await sink.check(patience()), await sink.send(outgoing(sampleRecord()), patience()));
      const text = said.map(
        (value) => `${inspect(value, { depth: 20, showHidden: true })} ${JSON.stringify(value)}`,
      );
      expect(text.join('\n')).not.toContain(subject.secret ?? 'no secret');
    });
  });
}

/** A record that does not fit into the buffers between here and the other end. */
const bulky = () => outgoing(sampleRecord({ description: 'x'.repeat(900_000) }));

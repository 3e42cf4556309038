// Standard output: real pipes with real readers, slow ones and ones that are gone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openStreamSink } from '../../src/sinks/stdout.ts';
import { startNode } from '../support/process.ts';
import { outgoing, sampleRecord } from '../support/records.ts';
import { until } from '../support/until.ts';
import {
  keepsTheContractOfWaiting,
  keepsTheSinkContract,
  patience,
  type SinkSubject,
} from './sink-contract.ts';

keepsTheSinkContract('stdout', () => openReader());
keepsTheContractOfWaiting('stdout', () => openReader());

/** A process that reads the lines of the sink, and hands them back. */
async function openReader(timeoutMs?: number): Promise<SinkSubject & { resume(): void }> {
  const reader = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = once(reader, 'close');
  const { stdout } = reader;
  // A pipe to a child process is a socket to Node, and counts its bytes.
  const stdin = reader.stdin as Socket;
  const chunks: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const came = () => Buffer.concat(chunks);
  const end = async () => {
    reader.kill('SIGKILL');
    await gone;
  };
  return {
    open: () => openStreamSink(stdin, timeoutMs),
    touched: async () => stdin.bytesWritten > 0,
    received: async () => {
      if (stdin.writable) await until('the reader has it all', () => came().length === stdin.bytesWritten);
      return came()
        .toString()
        .split('\n')
        .slice(0, -1)
        .map((line) => Buffer.from(line));
    },
    break: end,
    stall: async () => {
      reader.kill('SIGSTOP');
    },
    resume: () => reader.kill('SIGCONT'),
    [Symbol.asyncDispose]: end,
  };
}

/** More than the pipe between the sink and its reader can hold. */
const bulky = (size = 900_000) => outgoing(sampleRecord({ description: 'x'.repeat(size) }));

it('answers broken-pipe when the reader is gone, each time', async () => {
  await using reader = await openReader();
  await using sink = reader.open();
  await reader.break();
  const broken = { status: 'retryable', reason: 'broken-pipe' };
  expect(await sink.send(outgoing(sampleRecord()), patience())).toEqual(broken);
  expect(await sink.send(outgoing(sampleRecord()), patience())).toEqual(broken);
});

it('waits for a slow reader instead of heaping up lines', async () => {
  await using reader = await openReader(200);
  await using sink = reader.open();
  await reader.stall?.();
  const timeout = { status: 'retryable', reason: 'timeout' };
  expect(await sink.send(bulky(), patience())).toEqual(timeout);
  expect(await sink.send(bulky(), patience())).toEqual(timeout);
  reader.resume();
  expect(await until('the pipe is free', () => reader.received())).toHaveLength(1);
});

it('says a line once when its reader took it after the attempt had ended', async () => {
  await using reader = await openReader(200);
  await using sink = reader.open();
  await reader.stall?.();
  const record = bulky();
  await sink.send(record, patience());
  reader.resume();
  await until('the pipe is free', async () => (await reader.received()).length === 1);
  expect(await sink.send(record, patience())).toEqual({ status: 'delivered' });
  expect(await reader.received()).toHaveLength(1);
});

it('does not end the program whose reader went away', async () => {
  const path = fileURLToPath(new URL('stdout-program.ts', import.meta.url));
  await using program = startNode([path]);
  await program.until('"specversion"');
  program.child.stdout?.destroy();
  await program.until('three failures survived');
  expect(await program.ended()).toBe(0);
});

// A program like `seb` with commands that wait, fail and misbehave: run as a process of its own by tests.
import { setTimeout as delay } from 'node:timers/promises';
import { runProgram } from '../../src/cli.ts';
import { type Command, defineCommand } from '../../src/commands/command.ts';

const command = (name: string, run: Command['run']) => {
  const definition = defineCommand({ name, summary: name, options: {}, examples: [], run });
  return { name, summary: name, load: async () => definition };
};

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const open = setInterval(() => undefined, 1_000);
    signal.addEventListener('abort', () => {
      clearInterval(open);
      resolve();
    });
  });

const commands = [
  command('wait', async ({ stdout, signal }) => {
    stdout.write('ready\n');
    await untilAborted(signal);
    await delay(50);
    stdout.write('stopped\n');
    return 0;
  }),
  command('ignore', async ({ stdout, signal }) => {
    signal.addEventListener('abort', () => stdout.write('asked\n'));
    stdout.write('ready\n');
    await delay(60_000);
    return 0;
  }),
  command('hangup', async ({ stdout, signal, onHangup }) => {
    onHangup?.(() => stdout.write('reopened\n'));
    stdout.write('ready\n');
    await untilAborted(signal);
    return 0;
  }),
  command('linger', async () => {
    setInterval(() => undefined, 1_000);
    return 0;
  }),
  command('forget', async () => {
    void Promise.reject(new Error('SECRET'));
    await delay(60_000);
    return 0;
  }),
  command('flood', async ({ stdout }) => {
    for (let line = 0; line < 50_000; line++) stdout.write(`line ${line}\n`);
    return 0;
  }),
];

await runProgram(commands, { stopMsMax: 2_000, lingerMsMax: 200 });

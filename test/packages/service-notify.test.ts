// What a real service manager's socket hears of a real agent: over the descriptor it passes, and through systemd-notify.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { projectRoot } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

interface Fact {
  readonly main?: number;
  readonly ended?: number;
  readonly pid?: number;
  readonly text?: string;
}

const manager = join(import.meta.dirname, 'support/notify-manager.py');
const cli = join(projectRoot, 'src/cli.ts');

/** An agent under a manager that it reaches in this way, and what is heard of it. */
async function startManaged(way: 'descriptor' | 'program') {
  const resources = new AsyncDisposableStack();
  const directory = resources.use(temporaryDirectory());
  const imds = resources.use(await startImdsEmulator());
  const path = join(directory.path, 'agent.yaml');
  const settings = { stateDir: join(directory.path, 'state'), imds: { endpoint: imds.url } };
  writeFileSync(path, JSON.stringify({ ...settings, log: { level: 'silent' } }));
  const args = [manager, way, process.execPath, cli, 'agent', '-c', path];
  const child = spawn('python3', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const facts: Fact[] = [];
  createInterface(child.stdout).on('line', (line) => facts.push(JSON.parse(line) as Fact));
  const main = await until('the agent', () => facts[0]?.main);
  const isOver = (): boolean => facts.some(({ ended }) => ended !== undefined);
  resources.defer(async () => {
    if (!isOver()) process.kill(main, 'SIGKILL');
    await closed;
  });
  return {
    main,
    messages: () => facts.flatMap(({ text }) => text ?? []),
    senders: () => [...new Set(facts.flatMap(({ pid }) => pid ?? []))],
    heard: (start: string) =>
      until(start, () => facts.some(({ text }) => text === start || text?.startsWith(`${start}\n`))),
    ended: () => until('the end', () => facts.find(({ ended }) => ended !== undefined)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

it.each([['descriptor'], ['program']] as const)(
  'hears the whole life of an agent through the %s',
  async (way) => {
    await using agent = await startManaged(way);
    await agent.heard('READY=1');
    expect(agent.messages()[0]).toMatch(/^READY=1\nSTATUS=waiting for the first answer[^\n]*$/);
    await agent.heard('WATCHDOG=1');
    process.kill(agent.main, 'SIGHUP');
    await agent.heard('RELOADING=1');
    const reloading = agent.messages().findIndex((text) => text.startsWith('RELOADING=1'));
    expect(agent.messages()[reloading]).toMatch(/^RELOADING=1\nMONOTONIC_USEC=\d+$/);
    await until('the end of the reload', () => agent.messages().includes('READY=1'));
    expect(agent.messages().indexOf('READY=1')).toBeGreaterThan(reloading);
    process.kill(agent.main, 'SIGTERM');
    expect(await agent.ended()).toEqual({ ended: 0 });
    expect(agent.messages().at(-1)).toBe('STOPPING=1\nSTATUS=stopping');
    expect(
      agent.messages().filter((text) => text.includes('STATUS=watching, no event')).length,
    ).toBeGreaterThan(0);
    // With NotifyAccess=main nobody else is listened to.
    if (way === 'descriptor') expect(agent.senders()).toEqual([agent.main]);
  },
);

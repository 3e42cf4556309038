// Whether root may look into the outbox of the agent, which is another user, without shutting the agent out of it.
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { runAgentUntil, unheardConfiguration, waits } from './installed-agent.ts';
import { openPrivateMachine } from './private-machine.ts';
import { built } from './support/built.ts';

const state = '/var/lib/scheduled-events-bridge';
const user = 61184;

const asUser = `setpriv --reuid=${user} --regid=${user} --clear-groups sh -c 'umask 077; exec seb agent'`;

it('leaves every file to the agent, whether it runs or not, and the agent goes on', async () => {
  using directory = temporaryDirectory();
  const program = join(directory.path, 'seb');
  copyFileSync(await built('executable'), program);
  chmodSync(program, 0o755);
  await using machine = await openPrivateMachine(directory.path);
  await machine.run(`cp ${program} /usr/bin/seb; mkdir -p /etc/scheduled-events-bridge
    install -d -m 0700 -o ${user} -g ${user} ${state}`);
  const configuration = await unheardConfiguration(machine);
  await machine.run('cat > /etc/scheduled-events-bridge/agent.yaml', configuration);
  const asRoot =
    'seb outbox list -o tsv | cut -f 2; seb outbox retry --sink hook >/dev/null; seb check | cut -f 1';
  const seen = 'hook\nfile\nstateDir\nstatus\nimds\nsink hook\n';
  expect((await runAgentUntil(machine, waits, asRoot, asUser)).stdout).toBe(seen);
  expect(await machine.run(asRoot)).toEqual({ exitCode: 0, stdout: seen, stderr: '' });
  const files = (await machine.run(`stat -c '%u:%g %n' ${state}/*`)).stdout.trim().split('\n');
  expect(files.length).toBeGreaterThan(2);
  expect(files.filter((line) => !line.startsWith(`${user}:${user} `))).toEqual([]);
  const again = await runAgentUntil(machine, waits, '', asUser);
  expect(again.stderr).toMatch(/the agent starts[\s\S]*the agent stops/);
});

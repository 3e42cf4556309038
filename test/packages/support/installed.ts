// A private machine to install packages on, with a systemd that only writes down what it is asked: real boots are
// elsewhere, in infra/test. Images of containers forbid to start services; this one does not.
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Ended, openPrivateMachine } from '../private-machine.ts';

export interface Machine extends AsyncDisposable {
  /** Runs a script as root. @throws when it fails */
  run(script: string): Promise<string>;
  /** Runs a script that may fail. */
  attempt(script: string): Promise<Ended>;
  /** What systemd was asked since this was last read, one call in a line, without what only looks. */
  asked(): Promise<string>;
}

const systemctl = `#!/bin/sh
case "$*" in
--version) echo "systemd $(cat /etc/systemd-version)"; exit 0 ;;
*is-enabled* | *show* | *is-active*) exit 1 ;;
esac
echo "$*" >> /var/log/asked
`;

/** @param folder of the test @param package_ is copied there */
export async function openMachine(folder: string, package_: string): Promise<Machine> {
  copyFileSync(package_, join(folder, basename(package_)));
  const machine = await openPrivateMachine(folder);
  const run = async (script: string): Promise<string> => {
    const { exitCode, stdout, stderr } = await machine.run(`set -e; cd ${folder}; ${script}`);
    if (exitCode !== 0) throw new Error(`${script} failed (${exitCode}): ${stderr}${stdout}`);
    return stdout + stderr;
  };
  await run(`mkdir -p /run/systemd/system
    cat > /usr/bin/systemctl <<'END'\n${systemctl}END
    chmod 0755 /usr/bin/systemctl
    echo 252 > /etc/systemd-version
    rm -f /usr/sbin/policy-rc.d
    : > /var/log/asked`);
  return {
    run,
    attempt: (script) => machine.run(`cd ${folder}; ${script}`),
    asked: () => run('cat /var/log/asked; : > /var/log/asked'),
    [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
  };
}

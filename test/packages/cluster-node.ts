// A stand-in for the node of a cluster: a network of its own with only loopback, and a real OCI runtime, crun, in it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type RunningProcess, startNode } from '../support/process.ts';

const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningContainer extends RunningProcess {
  /** Sends a signal to its first process, as a runtime does that stops it. */
  signal(name: 'TERM' | 'KILL'): Promise<void>;
  /** A file of /proc about its first process, such as `status`. */
  proc(file: string): Promise<string>;
}

export interface ClusterNode extends AsyncDisposable {
  /** Runs a program of this machine there, as root. */
  run(command: readonly string[]): Promise<Ended>;
  /** Starts a container with a configuration for the runtime. */
  start(configuration: object): RunningContainer;
  /** Runs a container to its end. */
  runContainer(configuration: object): Promise<Ended>;
}

// The end of its standard input is its end: its first process goes, and the kernel ends all others with it.
// The runtime cannot do without a control group file system of the newer kind.
const boot = `
set -eu
ip link set lo up
if mountpoint -q /sys/fs/cgroup; then umount -R /sys/fs/cgroup; fi
mount -t cgroup2 none /sys/fs/cgroup
echo ready
exec cat >/dev/null
`;

/** Runs a program of this machine as root, to its end. */
export async function runAsRoot(command: readonly string[]): Promise<Ended> {
  const [program = '', ...words] = [...asRoot, ...command];
  await using running = startNode(words, { program });
  const exitCode = await running.ended();
  return { exitCode, ...running.output() };
}

/** @param directory of the test, for what the runtime keeps */
export async function openClusterNode(directory: string): Promise<ClusterNode> {
  const unshare = [
    'unshare',
    '--mount',
    '--net',
    '--pid',
    '--fork',
    '--mount-proc',
    '--propagation',
    'private',
  ];
  const [program = '', ...words] = [...asRoot, ...unshare, 'bash', '-c', boot];
  const holder = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  await firstLine(holder);
  const inside = await childOf(holder.pid ?? 0);
  const enter = ['nsenter', '--target', inside, '--mount', '--net', '--pid', '--root', '--wd=/'];
  const crun = ['crun', '--root', join(directory, 'runtime'), '--cgroup-manager=disabled'];
  const run = (command: readonly string[]): Promise<Ended> => runAsRoot([...enter, ...command]);
  let count = 0;
  const start = (configuration: object): RunningContainer => {
    const id = `container-${++count}`;
    const bundle = join(directory, id);
    const pidFile = join(bundle, 'pid');
    mkdirSync(bundle);
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(configuration));
    const command = [...enter, ...crun, 'run', '--bundle', bundle, '--pid-file', pidFile, id];
    const [first = '', ...others] = [...asRoot, ...command];
    const shell = async (script: string): Promise<string> => {
      const { exitCode, stdout, stderr } = await run(['sh', '-c', script, 'sh', pidFile]);
      if (exitCode !== 0) throw new Error(`${script}: ${stderr}`);
      return stdout;
    };
    return {
      ...startNode(others, { program: first }),
      signal: async (name) => void (await shell(`kill -${name} "$(cat "$1")"`)),
      proc: (file) => shell(`cat "/proc/$(cat "$1")/${file}"`),
    };
  };
  return {
    run,
    start,
    async runContainer(configuration) {
      await using running = start(configuration);
      const exitCode = await running.ended();
      return { exitCode, ...running.output() };
    },
    async [Symbol.asyncDispose]() {
      const closed = once(holder, 'close');
      holder.stdin?.end();
      await closed;
    },
  };
}

async function firstLine({ stdout }: ChildProcess): Promise<void> {
  if (stdout === null) throw new Error('nothing to read from');
  const lines = createInterface({ input: stdout });
  const ended = once(stdout, 'close').then(() => {
    throw new Error('the node did not start');
  });
  await Promise.race([once(lines, 'line'), ended]);
}

/** Of `unshare --fork`, and of `sudo` before it: the first process of the node, as this machine counts. */
async function childOf(pid: number): Promise<string> {
  const script =
    'p=$1; while c=$(cat /proc/$p/task/$p/children) && [ "$c" ]; do p=$(echo "$c" | cut -d" " -f1); done; echo "$p"';
  const { stdout } = await runAsRoot(['sh', '-c', script, 'sh', String(pid)]);
  return stdout.trim();
}

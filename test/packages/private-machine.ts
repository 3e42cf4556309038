// A copy-on-write view of this machine, with a network of its own that has only loopback: real tools, nothing left behind.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface PrivateMachine extends AsyncDisposable {
  /** Runs a shell script in it, as root. */
  run(script: string, input?: string): Promise<Ended>;
  /** Starts a program that stays until the machine ends; gives its first line of output. */
  start(command: readonly string[]): Promise<string>;
}

// Its root shows this machine's files, with the checkout and the test's directory as they are now, but not the lists
// of apt, which would take a second to read at each installation. It ends with its standard input, because a process
// of root cannot be ended by a user who had to ask for root; and everything in it ends with it.
const boot = `
set -eu
base=$2/machine
mkdir -p "$base"
mount -t tmpfs -o size=3g tmpfs "$base"
mkdir "$base/upper" "$base/work" "$base/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" "$base/root"
mount -t proc proc "$base/root/proc"
mount --rbind /dev "$base/root/dev"
mount -t tmpfs tmpfs "$base/root/run"
if [ -d /var/lib/apt/lists ]; then mount -t tmpfs tmpfs "$base/root/var/lib/apt/lists"; fi
for shown in "$@"; do mkdir -p "$base/root$shown"; mount --bind "$shown" "$base/root$shown"; done
mkdir -p "$base/root/run/lock"
ip link set lo up
read -r pid _ </proc/self/stat
echo "$pid $base/root"
exec cat >/dev/null
`;

const untilTheEnd = '"$@" </dev/null & cat >/dev/null; kill $!; wait';

/** @param shown a directory of the test that the machine sees and may change, besides the checkout */
export async function openPrivateMachine(shown: string): Promise<PrivateMachine> {
  const spawnAsRoot = (command: readonly string[]) => {
    const [program = '', ...words] = [...asRoot, ...command];
    return spawn(program, words, { cwd: '/' });
  };
  const unshared = ['unshare', '--mount', '--net', '--uts', '--pid', '--fork', '--propagation', 'private'];
  const holder = spawnAsRoot([...unshared, 'bash', '-c', boot, 'boot', checkout, shown]);
  const [pid = '', root = ''] = (await firstLine(holder)).split(' ');
  const enter = (command: readonly string[]) =>
    spawnAsRoot(['nsenter', '-t', pid, '-m', '-n', '-u', '-p', 'chroot', root, ...command]);
  const started: ChildProcessWithoutNullStreams[] = [];
  return {
    async run(script, input = '') {
      const child = enter(['bash', '-c', script]);
      child.stdin.on('error', () => undefined).end(input);
      return ended(child);
    },
    start(command) {
      const child = enter(['bash', '-c', untilTheEnd, 'start', ...command]);
      started.push(child);
      return firstLine(child);
    },
    async [Symbol.asyncDispose]() {
      for (const child of [...started, holder]) {
        const closed = once(child, 'close');
        child.stdin.end();
        await closed;
      }
    },
  };
}

/** Node itself, which the machine sees where it is. */
export const node = process.execPath;

async function firstLine(child: ChildProcessWithoutNullStreams): Promise<string> {
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([once(lines, 'line'), once(child, 'close')]);
  if (typeof line[0] !== 'string' || line[0] === '') throw new Error(`it did not start: ${complaint}`);
  return line[0];
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const kept = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    kept.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    kept.stderr += text;
  });
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, ...kept };
}

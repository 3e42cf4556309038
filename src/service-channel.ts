// Brings messages to the service manager (systemd): over a descriptor that it passed, or by its own small program.
// Node has no datagram sockets of the unix kind, and an addon would not go into one executable.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { write } from 'node:fs';
import { promisify } from 'node:util';

/** Assignments as sd_notify(3) names them, such as `READY` to `1`. */
export type ServiceMessage = Readonly<Record<string, string>>;

export interface ServiceChannel {
  /** Takes a message; it neither throws nor waits. What is not sent yet gives way to what is newer. */
  say(message: ServiceMessage): void;
}

export interface ChannelOptions {
  /** What the process was started with; see `takeServiceEnvironment`. */
  readonly environment: ServiceEnvironment;
  /** Is told of each message whether it arrived: null, or a code of the system that says why not. */
  readonly onOutcome: (fault: string | null) => void;
  /** Of systemd, for where no descriptor was passed. */
  readonly program?: string | undefined;
  /** How long that may take, ms. */
  readonly programMsMax?: number | undefined;
}

/** What the service manager says to the process it starts. */
export type ServiceEnvironment = Readonly<Record<string, string | undefined>>;

const names = [
  'NOTIFY_SOCKET',
  'LISTEN_FDS',
  'LISTEN_FDNAMES',
  'LISTEN_PID',
  'LISTEN_PIDFDID',
  'WATCHDOG_USEC',
  'WATCHDOG_PID',
];

/** Takes what is meant for this process alone out of `env`, so that no child of it speaks for it. */
export function takeServiceEnvironment(env: NodeJS.ProcessEnv): ServiceEnvironment {
  const taken = Object.fromEntries(names.map((name) => [name, env[name]]));
  for (const name of names) delete env[name];
  return taken;
}

type Deliver = (message: ServiceMessage) => Promise<void>;

/** @returns null when there is nobody to speak to */
export function openServiceChannel(options: ChannelOptions): ServiceChannel | null {
  const { environment, program = '/usr/bin/systemd-notify' } = options;
  const descriptor = passedDescriptor(environment);
  const socket = environment['NOTIFY_SOCKET'];
  if (descriptor === null && !socket) return null;
  const byProgram: Deliver | null = socket
    ? (message) => run(program, { socket, message, timeout: options.programMsMax ?? programMsMax })
    : null;
  const byDescriptor: Deliver | null = descriptor === null ? null : (message) => writeTo(descriptor, message);
  return openQueue(firstThatWorks([byDescriptor, byProgram]), options.onOutcome);
}

// sd_listen_fds(3): what is passed begins behind standard error.
const firstPassed = 3;

/** The descriptor that `OpenFile=/run/systemd/notify:notify` of systemd 253 and newer passes. */
function passedDescriptor(environment: ServiceEnvironment): number | null {
  if (environment['LISTEN_PID'] !== String(process.pid)) return null;
  const index = (environment['LISTEN_FDNAMES'] ?? '').split(':').indexOf('notify');
  return index >= 0 && index < Number(environment['LISTEN_FDS']) ? firstPassed + index : null;
}

function firstThatWorks(ways: readonly (Deliver | null)[]): Deliver {
  return async (message) => {
    let fault: unknown;
    for (const way of ways.filter((each) => each !== null)) {
      try {
        return await way(message);
      } catch (error) {
        fault = error;
      }
    }
    throw fault;
  };
}

const textOf = (message: ServiceMessage): string[] =>
  Object.entries(message).map(([name, value]) => `${name}=${value}`);

const writeFile = promisify(write);

/** One write is one datagram. Not synchronous: a manager that hangs must not hold up the watch. */
async function writeTo(descriptor: number, message: ServiceMessage): Promise<void> {
  await writeFile(descriptor, Buffer.from(textOf(message).join('\n')));
}

// It waits up to 5 s for the manager to have read the message, which must see who sent it (sd_notify_barrier(3)).
const programMsMax = 10_000;

interface ProgramCall {
  readonly socket: string;
  readonly message: ServiceMessage;
  readonly timeout: number;
}

async function run(program: string, { socket, message, timeout }: ProgramCall): Promise<void> {
  const env = { NOTIFY_SOCKET: socket };
  const child = spawn(program, textOf(message), { env, stdio: 'ignore', timeout, killSignal: 'SIGKILL' });
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw Object.assign(new Error('failed'), { code: signal ?? `exit-code-${code}` });
}

// What must arrive one by one and in order; the rest only counts in its newest form.
const steps = ['READY', 'RELOADING', 'STOPPING'];
const isStep = (message: ServiceMessage | undefined): boolean =>
  message !== undefined && steps.some((step) => step in message);
const queuedMax = 16;

const outcomeOf = (delivery: Promise<void>): Promise<string | null> =>
  delivery.then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? 'unknown error',
  );

/** One message after the other: while one is under way, the others wait and do not pile up. */
function openQueue(deliver: Deliver, onOutcome: ChannelOptions['onOutcome']): ServiceChannel {
  const queue: ServiceMessage[] = [];
  let isSending = false;
  const send = async (): Promise<void> => {
    isSending = true;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      onOutcome(await outcomeOf(deliver(next)));
    }
    isSending = false;
  };
  return {
    say(message) {
      const last = queue.at(-1);
      if (last !== undefined && !isStep(message) && !isStep(last))
        queue[queue.length - 1] = { ...last, ...message };
      else queue.push(message);
      // A manager that takes nothing for so long has to hear the end of it, not the beginning.
      if (queue.length > queuedMax) queue.shift();
      if (!isSending) void send();
    },
  };
}

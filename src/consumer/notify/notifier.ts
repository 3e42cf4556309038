// The notices of the fleet: of all instances that share a trail one sends them, and another follows when it is gone.
import type { TrailStore } from '../../audit/store.ts';
import type { Clock } from '../../clock.ts';
import { lockDirectory } from '../../delivery/lock.ts';
import type { Meters } from '../../delivery/meters.ts';
import { makeDirectories } from '../../directories.ts';
import type { Log } from '../../log.ts';
import type { NotifySettings } from '../settings.ts';
import { openBell } from './bell.ts';
import { type NoticesStanding, noticesStanding, openTermBook, type TermBook } from './standing.ts';
import { type OpenReader, serveTerm } from './term.ts';

export interface NotifierOptions {
  readonly settings: NotifySettings;
  readonly trail: TrailStore;
  readonly openReader: OpenReader;
  readonly instance: string;
  readonly meters: Meters;
  /** Whether all that the fleet says arrives in the trail now: else nobody is called silent. */
  readonly isHearing: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Notifier {
  /** Something was stored here: it need not wait for the next look. */
  stored(): void;
  standing(): NoticesStanding;
  /** Sends notices, or stands by, until the signal aborts. What goes wrong here ends nothing else. */
  run(signal: AbortSignal): Promise<void>;
}

// Whoever leads is asked for the lead so often, and a directory that cannot be used is tried so often.
const followMs = 2_000;
const bugPauseMs = 60_000;

export function openNotifier(options: NotifierOptions): Notifier {
  const book = openTermBook();
  const bell = openBell(options.clock);
  return {
    stored: () => bell.ring(),
    standing: () => noticesStanding(book, options.clock.now()),
    run: async (signal) => {
      const say = openRoleLog(options.log);
      while (!signal.aborted) {
        const pauseMs = await attempt({ ...options, book, bell, signal }, say).catch((error: unknown) => {
          Object.assign(book, { role: 'failing', fault: 'unexpected', look: null });
          // The text of an error that nobody foresaw may hold anything.
          const name = error instanceof Error ? error.name : typeof error;
          options.log.error(
            { error: name },
            'notices came to a halt: this is a bug in the bridge; they begin anew',
          );
          return bugPauseMs;
        });
        await options.clock.sleep(pauseMs, signal);
      }
    },
  };
}

type Attempt = Parameters<typeof serveTerm>[0];

/** One term, if it can be had. @returns how long to wait before the next, ms */
async function attempt(options: Attempt, say: (book: TermBook) => void): Promise<number> {
  const { settings, trail, book } = options;
  const directory = ownDirectory(settings.stateDir);
  if (directory === 'unusable') Object.assign(book, { role: 'failing', fault: 'state-dir-unusable' });
  if (directory === 'taken') Object.assign(book, { role: 'following', fault: null });
  if (typeof directory === 'string') {
    say(book);
    return followMs;
  }
  using _own = directory;
  const led = await trail.lead('notify');
  if (led.status === 'leading') {
    await using lease = led.lease;
    await serveTerm(options, lease);
    Object.assign(book, { role: 'opening', behind: 0 });
    return 0;
  }
  if (led.status === 'following') Object.assign(book, { role: 'following', fault: null });
  else Object.assign(book, { role: 'failing', fault: led.reason });
  say(book);
  return followMs;
}

/** The lock is the kernel's: `taken` by another process that is alive. */
function ownDirectory(path: string): Disposable | 'taken' | 'unusable' {
  try {
    makeDirectories(path, 0o700);
    return lockDirectory(path, 'notify.lock') ?? 'taken';
  } catch {
    return 'unusable';
  }
}

/** Says so once when this instance stands by, or cannot send although it would. */
function openRoleLog(log: Log): (book: TermBook) => void {
  let last = '';
  return ({ role, fault }) => {
    const now = `${role} ${fault}`;
    if (now === last) return;
    last = now;
    if (role === 'following') log.info({}, 'another instance sends the notices: this one stands by');
    else log.error({ reason: fault }, 'no notices are sent from here, although they should be');
  };
}

// What a hook is told of its event: as JSON on standard input, and in variables that no shell can stumble over.
import type { HookPhase } from './deed.ts';
import type { ScheduledEvent } from './document.ts';
import type { Observer } from './observer.ts';

/** Everything a hook is told. */
export interface HookNews {
  readonly phase: HookPhase;
  readonly event: ScheduledEvent;
  readonly observer: Observer;
  readonly affected: boolean | null;
  readonly timeoutMs: number;
  /** When it is ended, epoch ms. */
  readonly deadlineAt: number;
  /** How the event ended, for a recover; null when nobody saw it. */
  readonly ending: 'completed' | 'canceled' | null;
  /** Whether a prepare was made and held, for a recover. */
  readonly prepared: 'yes' | 'no' | 'failed' | null;
}

/** Variables of the agent's own environment that a hook gets; no other, for they may hold secrets. */
const inheritedVariables = [
  ...['PATH', 'HOME', 'LANG', 'TZ'],
  // Without these, programs of Windows do not even begin.
  ...['SystemRoot', 'SystemDrive', 'windir', 'ComSpec', 'PATHEXT', 'TEMP', 'TMP', 'USERPROFILE'],
] as const;

// systemd.exec(5) has the same for services; a shell that finds no PATH takes one of its own.
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

// Linux takes 128 KiB for one variable, Windows 32,767 characters for all. The whole text is on standard input.
const valueLengthMax = 4_096;
const resourcesLengthMax = 16_384;

/** The whole environment of a hook. @param own that of the agent */
export function environmentOf(
  news: HookNews,
  own: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const inherited = inheritedVariables
    .map((name) => [name, own[name] ?? (name === 'PATH' ? usualPath : undefined)] as const)
    .filter((pair): pair is [(typeof pair)[0], string] => pair[1] !== undefined);
  const said = Object.entries(variablesOf(news)).map(([name, value]) => [name, plain(value ?? '')] as const);
  return { ...Object.fromEntries(inherited), ...Object.fromEntries(said), SEB_RESOURCES: resourcesOf(news) };
}

function variablesOf(news: HookNews): Readonly<Record<string, string | null>> {
  const { phase, event, observer, affected, timeoutMs, deadlineAt, ending, prepared } = news;
  const { durationSeconds } = event;
  return {
    SEB_PHASE: phase,
    SEB_EVENT_ID: event.eventId,
    SEB_EVENT_TYPE: event.eventType,
    SEB_EVENT_STATUS: event.eventStatus,
    SEB_EVENT_SOURCE: event.eventSource,
    SEB_NOT_BEFORE: event.notBefore,
    SEB_DURATION_SECONDS: durationSeconds === null ? null : String(durationSeconds),
    SEB_DESCRIPTION: event.description,
    SEB_AFFECTED: affected === null ? null : affected ? 'yes' : 'no',
    SEB_VM_NAME: observer.vmName,
    SEB_VM_ID: observer.vmId,
    SEB_DEADLINE: new Date(deadlineAt).toISOString(),
    SEB_TIMEOUT_SECONDS: String(Math.floor(timeoutMs / 1000)),
    ...(phase === 'recover' ? { SEB_ENDING: ending, SEB_PREPARED: prepared } : {}),
  };
}

/** Names that a shell may split at blanks: as many whole ones as there is room for. */
function resourcesOf({ event }: HookNews): string {
  let text = '';
  for (const resource of event.resources) {
    const name = plain(resource).replaceAll(/\s+/g, '_');
    if (text.length + 1 + name.length > resourcesLengthMax) break;
    text = text === '' ? name : `${text} ${name}`;
  }
  return text;
}

/** One line of text without control characters, and no longer than a system takes. */
const plain = (text: string): string =>
  text
    .slice(0, valueLengthMax)
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ');

/** What a hook reads: the event in one line, as the records about it have it. */
export const standardInputOf = ({ event }: HookNews): string => `${JSON.stringify(event)}\n`;

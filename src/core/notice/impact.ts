// What each type of event does to a VM, in plain words.
import { lengthText } from './time-text.ts';

/** An event's type and what it does, in two lengths. */
export interface Impact {
  /** For a headline, such as `Freeze (about 5 s)`. */
  readonly short: string;
  /** For a line of its own, such as `Freeze: paused, about 5 s`. */
  readonly full: string;
  /** Whether the type is one that can be explained. */
  readonly known: boolean;
}

interface Deed {
  readonly text: string;
  /** For a headline, where that needs other words; empty where the length alone says enough. */
  readonly short?: string;
  /** What is deleted does not come back: how long it takes is no question then. */
  readonly final?: true;
}

// Source: learn.microsoft.com, "Scheduled Events for Linux VMs in Azure", the table of event properties.
const deeds: ReadonlyMap<string, Deed> = new Map<string, Deed>([
  ['freeze', { text: 'paused', short: '' }],
  ['reboot', { text: 'restarted' }],
  ['redeploy', { text: 'moved to other hardware, temporary disk lost' }],
  ['preempt', { text: 'evicted (Spot)', short: 'Spot eviction', final: true }],
  ['terminate', { text: 'deleted', final: true }],
]);

/** @param durationSeconds null when Azure does not know, or when it does not apply */
export function impactOf(eventType: string | null, durationSeconds: number | null): Impact {
  const name = eventType ?? 'Event of unknown type';
  const deed = deeds.get(name.toLowerCase());
  const unknown = durationSeconds === null;
  const length = unknown && deed?.final ? '' : lengthOf(durationSeconds);
  const short = deed?.short ?? deed?.text ?? '';
  // A headline says that the length is unknown only where it has nothing else to say.
  const brackets = joined(short, unknown && short !== '' ? '' : length);
  const full = joined(deed?.text ?? '', length);
  return {
    short: brackets === '' ? name : `${name} (${brackets})`,
    full: full === '' ? name : `${name}: ${full}`,
    known: deed !== undefined,
  };
}

/** How long the VM is away, in words. */
export function lengthOf(durationSeconds: number | null): string {
  if (durationSeconds === null) return 'length unknown';
  return durationSeconds === 0 ? 'no interruption expected' : `about ${lengthText(durationSeconds)}`;
}

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(', ');

// One line of the demo's story, and how it is printed: on a terminal in colour, in a pipe without.
import { styleText } from 'node:util';
import type { CommandContext } from '../command.ts';

/** Where something was seen to happen. */
export type Place = 'demo' | 'azure' | 'agents' | 'hub' | 'webhook' | 'trail';

export interface Line {
  readonly place: Place;
  /** What happened, such as `started`. */
  readonly what: string;
  /** To which event, such as `Freeze c7061bac`; empty for what is about no event. */
  readonly event: string;
  readonly detail: string;
  /** Something a person should look at. */
  readonly alarming?: boolean;
  /** The beginning of another chapter. */
  readonly opening?: boolean;
}

const colors = {
  demo: 'dim',
  azure: 'blue',
  agents: 'cyan',
  hub: 'magenta',
  webhook: 'yellow',
  trail: 'green',
} as const;

/**
 * What prints a line, with the seconds since `startedAt` (monotonic ms) before it. A terminal shows as much of it
 * as fits, a pipe gets the whole.
 */
export function linePrinter(stdout: CommandContext['stdout'], startedAt: number): (line: Line) => void {
  const styled = (style: Parameters<typeof styleText>[0], text: string): string =>
    styleText(style, text, { stream: stdout });
  return ({ place, what, event, detail, alarming, opening }) => {
    const time = `${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s`;
    const where = place.padEnd(8);
    const width = (stdout.columns ?? Number.POSITIVE_INFINITY) - `${time}  ${where}`.length - 1;
    const words = [what.padEnd(13), event === '' ? '' : event.padEnd(18), detail].filter(Boolean);
    const text = cut(words.join(' ').trimEnd(), width);
    const styles = [...(alarming ? ['red' as const] : []), ...(opening ? ['bold' as const] : [])];
    const head = `${opening ? '\n' : ''}${styled('dim', time)}  ${styled(colors[place], where)}`;
    stdout.write(`${head} ${styles.length === 0 ? text : styled(styles, text)}\n`);
  };
}

const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;

/** The first few names, and how many more there are. */
export function namesOf(names: readonly string[], shown = 3): string {
  const more = names.length - shown;
  return more > 1 ? `${names.slice(0, shown).join(', ')} and ${more} more` : names.join(', ');
}

/** `3 records`, `1 record`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** The beginning of an EventId, lower case: enough to tell a few events apart. */
export const shortId = (eventId: string): string => eventId.toLowerCase().slice(0, 8);

/** Something the demo says about itself. */
export const note = (what: string, detail: string): Line => ({ place: 'demo', what, event: '', detail });

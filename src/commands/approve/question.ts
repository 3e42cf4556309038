// Tells a person what an approval will do, and asks whether it shall be.
import { createInterface } from 'node:readline';
import { effectOf } from '../../core/approval-words.ts';
import { canonicalName } from '../../core/document.ts';
import { plainText } from '../../core/notice/plain-text.ts';
import { lengthText } from '../../core/notice/time-text.ts';
import type { CommandContext } from '../command.ts';
import { writeMoment } from '../moment.ts';
import type { HandSubject } from './subject.ts';

/** What will happen, in a few lines. @param now epoch ms */
export function describeApproval(subject: HandSubject, zone: string, now: number): string {
  const { event, vmName, undelivered } = subject;
  const said = plainText(event.description ?? '');
  const source = event.eventSource === null ? '' : `, by ${plainText(event.eventSource)}`;
  const vms = event.resources.map((name) => {
    const own = canonicalName(name) === canonicalName(vmName) ? ' (this one)' : '';
    return plainText(name) + own;
  });
  const lines = [
    `Event ${plainText(event.eventId)}: ${plainText(event.eventType)}${source}${said === '' ? '' : `: ${said}`}`,
    startOf(event.notBefore, zone, now),
    `Approved, Azure may start it at once. Each VM that it names then ${effectOf(event)}: ${vms.join(', ')}`,
    'This cannot be undone.',
    ...(undelivered.length === 0
      ? []
      : [`These sinks do not have its records yet: ${undelivered.join(', ')}`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function startOf(notBefore: string | null, zone: string, now: number): string {
  if (notBefore === null) return 'Azure does not say when it starts by itself.';
  const at = Date.parse(notBefore);
  const inSeconds = Math.max(Math.floor((at - now) / 1_000), 0);
  return `It starts by itself at ${writeMoment(at, zone)}, in ${lengthText(inSeconds)}.`;
}

/** Whether a person sits there who can be asked and can answer. */
export const isConversation = ({ stdin = process.stdin, stderr }: CommandContext): boolean =>
  stdin.isTTY === true && stderr.isTTY === true;

/** Asks; anything but a yes is a no, and so is an end without an answer. */
export async function isAgreed({ stdin = process.stdin, stderr, signal }: CommandContext): Promise<boolean> {
  stderr.write('Approve it? [y/N] ');
  // Without a terminal of its own, so that Ctrl-C stays the signal that it is.
  const lines = createInterface({ input: stdin, terminal: false });
  const { promise, resolve } = Promise.withResolvers<string>();
  lines.once('line', resolve);
  lines.once('close', () => resolve(''));
  const stop = (): void => resolve('');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const answer = await promise;
  signal.removeEventListener('abort', stop);
  lines.close();
  return /^\s*y(es)?\s*$/i.test(answer) && !signal.aborted;
}

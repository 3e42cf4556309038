// Says once what changed about reading, and how long to wait after a session.
import type { Log } from '../log.ts';
import type { HubDescription } from './hub.ts';
import { hubAdviceOf } from './hub-advice.ts';
import type { SessionEnd } from './session.ts';

export interface SessionLog {
  reading(hub: HubDescription): void;
  ended(end: SessionEnd): void;
}

// What only a person can mend; everything else passes, and nothing is lost meanwhile.
export const needsPerson: ReadonlySet<string> = new Set([
  'unauthorized',
  'not-found',
  'credential-unavailable',
  'secret-unreadable',
  'connection-string-invalid',
  'position-refused',
  'history-changed',
  'quota-exceeded',
  'proxy-authentication',
  'proxy-refused',
  'proxy-invalid',
]);

/** One line per change of state, however often sessions fail the same way. */
export function openSessionLog(log: Log): SessionLog {
  let state: string | null = null;
  return {
    reading: ({ namespace, name, partitions }) => {
      if (state === 'reading') return;
      state = 'reading';
      log.info({ namespace, hub: name, partitions: partitions.length }, 'the hub is read');
    },
    ended: (end) => {
      if (end.reason === 'stopped' || end.reason === 'refresh') return;
      const fault = 'fault' in end ? end.fault : null;
      const next = [end.reason, fault].join(' ');
      if (state === next) return;
      state = next;
      const level = fault !== null && needsPerson.has(fault) ? 'error' : 'warn';
      const advice = end.reason === 'failed' ? { advice: hubAdviceOf(end.fault) } : {};
      log[level]({ ...end, ...advice }, 'reading the hub broke off and begins anew');
    },
  };
}

const pauseMsBase = 250;
const pauseMsMax = 10_000;
const noPause: ReadonlySet<SessionEnd['reason']> = new Set(['stopped', 'refresh', 'hub-changed', 'hole']);

/**
 * How long to wait before the next session.
 * @param failures sessions in a row that stored nothing, from 1
 */
export const pauseMs = ({ reason }: SessionEnd, failures: number): number =>
  noPause.has(reason) ? 0 : Math.min(pauseMsBase * 2 ** Math.min(failures - 1, 10), pauseMsMax);

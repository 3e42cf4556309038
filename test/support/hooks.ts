// Programs for tests of hooks: small shell scripts that say what happened to them, and events for them to be about.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HookData } from '../../src/core/deed.ts';
import type { BridgeRecord } from '../../src/core/record.ts';

export interface HookScripts {
  /** Writes an executable; in its text `say WORDS` adds a line to what is said. @returns its path */
  script(name: string, text: string, mode?: number): string;
  /** What the scripts have said, line by line. */
  said(): readonly string[];
  at(name: string): string;
}

/** @param directory of the test's own, which only this user may write to */
export function hookScripts(directory: string): HookScripts {
  const at = (name: string): string => join(directory, name);
  return {
    at,
    script(name, text, mode = 0o755) {
      mkdirSync(dirname(at(name)), { recursive: true, mode: 0o755 });
      writeFileSync(at(name), `#!/bin/sh\nsay() { echo "$*" >> '${at('said')}'; }\n${text}\n`);
      chmodSync(at(name), mode);
      return at(name);
    },
    said() {
      try {
        return readFileSync(at('said'), 'utf8').split('\n').slice(0, -1);
      } catch {
        return [];
      }
    },
  };
}

/** An entry of `Events` that names the emulator's first VM, a quarter of an hour before it may start. */
export const hookEvent = (letter: string, change: object = {}) => ({
  EventId: `${letter}0000000-0000-4000-8000-000000000000`.toUpperCase(),
  EventStatus: 'Scheduled',
  EventType: 'Reboot',
  ResourceType: 'VirtualMachine',
  Resources: ['WestNO_0'],
  NotBefore: new Date(Date.now() + 900_000).toUTCString(),
  Description: `event ${letter}`,
  EventSource: 'Platform',
  DurationInSeconds: -1,
  ...change,
});

let incarnation = 1;

export const hookDocument = (...events: readonly object[]): object => {
  incarnation += 1;
  return { DocumentIncarnation: incarnation, Events: events };
};

/** Of these, the ones about hooks. */
export const hooksAmong = (records: readonly BridgeRecord[]): BridgeRecord<HookData>[] =>
  records.filter((record) => record.type.endsWith('.hook.v1')) as BridgeRecord<HookData>[];

/** What became of each hook, in order: `prepare started`. */
export const outcomesIn = (records: readonly BridgeRecord[]): string[] =>
  hooksAmong(records).map(({ data }) => `${data.phase} ${data.outcome}`);

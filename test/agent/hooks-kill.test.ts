// SIGKILL of real agents at each moment of a hook's life: none starts twice, and the recover runs all the same.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { hookDocument, hookEvent, hookScripts, outcomesIn } from '../support/hooks.ts';
import { plainEnvironment, startNode } from '../support/process.ts';
import { recordsIn, startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const child = join(import.meta.dirname, '../support/hook-kill-child.ts');

interface Case {
  /** Where the first agent is killed, and where the second. */
  readonly prepare: string;
  readonly recover: string;
  /** What has run when the first is dead, when the second is, and when all is over. */
  readonly said: readonly (readonly string[])[];
  /** What is recorded, in order. */
  readonly records: readonly string[];
}

const cases: readonly Case[] = [
  {
    prepare: 'before-note',
    recover: 'after-ending',
    said: [[], ['prepare'], ['prepare', 'recover yes']],
    records: ['prepare started', 'prepare succeeded', 'recover started', 'recover succeeded'],
  },
  {
    prepare: 'after-note',
    recover: 'before-note',
    said: [[], [], ['recover failed']],
    records: ['prepare started', 'prepare unknown', 'recover started', 'recover succeeded'],
  },
  {
    prepare: 'during',
    recover: 'after-note',
    said: [['prepare'], ['prepare'], ['prepare']],
    records: ['prepare started', 'prepare unknown', 'recover started', 'recover unknown'],
  },
  {
    prepare: 'before-end',
    recover: 'during',
    said: [['prepare'], ['prepare', 'recover failed'], ['prepare', 'recover failed']],
    records: ['prepare started', 'prepare unknown', 'recover started', 'recover unknown'],
  },
  {
    prepare: 'after-end',
    recover: 'before-end',
    said: [['prepare'], ['prepare', 'recover yes'], ['prepare', 'recover yes']],
    records: ['prepare started', 'prepare succeeded', 'recover started', 'recover unknown'],
  },
];

describe.concurrent('an agent that is killed', () => {
  test.each(cases)(
    '$prepare of a prepare, and another $recover of the recover: each hook starts at most once, and the recover when it may',
    async ({ prepare, recover, said, records }) => {
      using directory = temporaryDirectory();
      await using imds = await startImdsEmulator();
      const stage = hookScripts(directory.path);
      const dying = [prepare === 'during' ? 'prepare' : '', recover === 'during' ? 'recover' : ''].join(' ');
      const program = stage.script(
        'hook',
        `say "$SEB_PHASE${'$'}{SEB_PREPARED:+ $SEB_PREPARED}"; case " ${dying} " in *" $SEB_PHASE "*) kill -9 "$PPID" ;; esac`,
      );
      const hooks = ['prepare', 'recover'].map((on) => ({ on, command: [program] }));
      const killedAgent = async (killAt: string, meanwhile: () => Promise<void>): Promise<void> => {
        await using agent = startNode([child, directory.path, imds.url, JSON.stringify({ hooks })], {
          env: { ...plainEnvironment(), KILL_AT: killAt },
        });
        await meanwhile();
        expect(await agent.ended()).toBeNull();
      };
      const found = (): string[] => {
        // A record that was sent just before the kill may come once more.
        const once = new Map(recordsIn(stage.at('events.jsonl')).map((record) => [record.id, record]));
        return outcomesIn([...once.values()]);
      };

      imds.show(hookDocument(hookEvent('a')));
      await killedAgent(`prepare ${prepare}`, async () => undefined);
      expect(stage.said()).toEqual(said[0]);
      await killedAgent(`recover ${recover}`, async () => {
        const settled = () => found().some((outcome) => /^prepare (unknown|succeeded)/.test(outcome));
        await until('the prepare to be settled', settled, 40_000);
        imds.show(hookDocument());
      });
      expect(stage.said()).toEqual(said[1]);
      await using last = startAgent(directory.path, imds.url, { hooks });
      await until('the end of it', () => found().length >= records.length);
      const polls = imds.requests.length;
      await until('more polls', () => imds.requests.length > polls + 3);
      expect(stage.said()).toEqual(said[2]);
      expect(found()).toEqual(records);
      await last.stop();
    },
    60_000,
  );
});

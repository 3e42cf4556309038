// `seb check`: whether a configuration file is right, and whether what it names can be reached.
import { statSync } from 'node:fs';
import type { CheckResult } from '../sinks/sink.ts';
import { agentChecks } from './agent-checks.ts';
import { defineCommand, textOption } from './command.ts';
import { consumerChecks } from './consumer-checks.ts';
import {
  chosenProgram,
  defaultFile,
  fileOption,
  type ProgramName,
  programOf,
  programOption,
} from './program.ts';
import type { Check } from './reach.ts';
import { type Column, outputOptions, printRows } from './table.ts';

// The first answer of the metadata service may take two minutes; nothing else comes near that.
const checkMsMax = 130_000;

export const check = defineCommand({
  name: 'check',
  summary: 'Validates a configuration file and reaches everything it names.',
  options: { ...fileOption('agent'), ...programOption, ...outputOptions },
  examples: [
    {
      line: 'check -c agent.yaml',
      shows: 'one line for the file, its directory, approval, each hook, IMDS and each sink',
    },
    {
      line: 'check -c consumer.yaml -o json',
      shows: 'the file, the hub, the store, its key, its anchors and where notices go, as JSON',
    },
  ],
  notes: [
    'For an agent it asks the metadata service, which switches Scheduled Events on for the VM for a day, as the agent does; the very first answer may take two minutes.',
    'For a consumer it tries whether each anchor and the place of the copy take something, by opening what is there or by a request that cannot succeed: nothing is written.',
    'No record is sent. Ends with 1 when something cannot be reached, and with 2 when the file is wrong.',
  ],
  async run(context) {
    const chosen = chosenProgram(context);
    const path = textOption(context, 'config') ?? defaultFile(chosen ?? 'agent');
    const checks = await checksOf(chosen ?? programOf(path), path);
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(checkMsMax)]);
    const rows = await Promise.all(
      checks.map(async (each) => ({ name: each.name, ...(await tried(each, signal)) })),
    );
    await printRows(context, columns, [{ name: 'file', ok: true, detail: path + caution(path) }, ...rows]);
    return rows.every(({ ok }) => ok) ? 0 : 1;
  },
});

/** Root may read what the packaged service, a user of its own, may not: then it would end with 2. */
function caution(path: string): string {
  const isForOthers = process.getuid?.() !== 0 || (statSync(path).mode & 0o004) !== 0;
  return isForOthers ? '' : '; not everybody may read it, so the packaged service may not: chmod 644';
}

async function checksOf(program: ProgramName, path: string): Promise<readonly Check[]> {
  if (program === 'agent') {
    const { readAgentSettings } = await import('../agent/settings.ts');
    return agentChecks(await readAgentSettings(path));
  }
  const { readConsumerSettings } = await import('../consumer/settings.ts');
  return await consumerChecks(await readConsumerSettings(path));
}

/** A check that throws has failed; its message may hold anything, so only the kind of error is told. */
async function tried(each: Check, signal: AbortSignal): Promise<CheckResult> {
  try {
    return await each.run(signal);
  } catch (error) {
    return { ok: false, detail: `unexpected ${error instanceof Error ? error.constructor.name : 'failure'}` };
  }
}

interface CheckRow extends CheckResultFields {
  readonly name: string;
}
type CheckResultFields = Pick<CheckResult, 'ok' | 'detail'>;

const columns: readonly Column<CheckRow>[] = [
  { name: 'check', value: ({ name }) => name },
  {
    name: 'result',
    value: ({ ok }) => (ok ? 'ok' : 'failed'),
    tone: ({ ok }) => (ok ? 'green' : 'red'),
  },
  // Says what to do: a narrow terminal may wrap it, but nothing may cut it short.
  { name: 'detail', value: ({ detail }) => detail },
];

// What it costs to verify a trail, beside hashing the same bytes once, and whether its memory grows with the trail.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { diskDirectory } from './raw-disk.ts';
import type { Bench, BenchResult } from './result.ts';
import { type MadeTrail, makeTrail } from './trail-maker.ts';

/** What a whole process took. */
interface Ran {
  readonly seconds: number;
  /** The most memory it ever held, MB of 1024 × 1024 bytes. */
  readonly peakMb: number;
}

export const run: Bench = async ({ quick }) => {
  const [few, many] = quick ? [1_000, 10_000] : [100_000, 1_000_000];
  using directory = diskDirectory();
  const small = await makeTrail(directory.path, few);
  const big = await makeTrail(directory.path, many);
  const megabytes = statSync(big.bodies).size / 1024 ** 2;
  // Each reads its file once before, so that both find it in memory or neither does.
  await hashed(big.bodies);
  const bare = await hashed(big.bodies);
  await verified(small, false);
  const [log, whole] = [await verified(big, false), await verified(big, true)];
  const [smallLog, smallWhole] = [await verified(small, false), await verified(small, true)];
  const beside = { name: 'sha256sum of the same bytes', value: bare.seconds };
  const text = `${many} entries, ${Math.round(megabytes)} MB`;
  return [
    { name: `verify without projections, ${text}`, value: log.seconds, unit: 's', baseline: beside },
    { name: `verify with projections, ${text}`, value: whole.seconds, unit: 's', baseline: beside },
    { name: 'verify without projections, each entry', value: (1e6 * log.seconds) / many, unit: 'µs' },
    memory(`peak memory without projections, ${many} entries`, log, smallLog, few),
    memory(`peak memory with projections, ${many} entries`, whole, smallWhole, few),
  ];
};

const memory = (name: string, ran: Ran, small: Ran, few: number): BenchResult => ({
  ...{ name, value: ran.peakMb, unit: 'MB' },
  baseline: { name: `${few} entries`, value: small.peakMb },
});

const hashed = (path: string): Promise<Ran> => measured('sha256sum', [path], 0);

const verifier = fileURLToPath(new URL('verify-program.ts', import.meta.url));

const verified = (trail: MadeTrail, projections: boolean): Promise<Ran> =>
  measured(process.execPath, [verifier, JSON.stringify({ ...trail, projections })], 0);

/** Runs a program to its end. @throws when it ends with another code */
async function measured(command: string, args: readonly string[], code: number): Promise<Ran> {
  const begun = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [ended] = await once(child, 'close');
  if (ended !== code) throw new Error(`${command} ended with ${ended}: ${output}`);
  const seconds = (performance.now() - begun) / 1_000;
  return { seconds, peakMb: Number(/^peak (\d+) kB$/m.exec(output)?.[1] ?? 0) / 1024 };
}

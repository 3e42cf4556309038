// Runs the measurements in scripts/bench and prints them beside what each is to be judged by.
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Bench, BenchResult } from './bench/result.ts';

const folder = new URL('./bench/', import.meta.url);

/** The files that measure something, by name; others in the folder are programs and parts that help them. */
async function benches(wanted: readonly string[]): Promise<[name: string, run: Bench][]> {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && measures(file))
    .map((file) => file.slice(0, -'.ts'.length));
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new Error(`there is no measurement "${unknown}", only ${names.join(', ')}`);
  const chosen = names.filter((name) => wanted.length === 0 || wanted.includes(name));
  return Promise.all(chosen.map(async (name) => [name, (await load(name)).run] as [string, Bench]));
}

const measures = (file: string): boolean =>
  /^export (const|async function) run\b/m.test(readFileSync(new URL(file, folder), 'utf8'));

const load = (name: string): Promise<{ readonly run: Bench }> => import(new URL(`${name}.ts`, folder).href);

const rounded = (value: number): string => String(Number(value.toPrecision(value >= 1000 ? 4 : 3)));

function lineOf({ name, value, unit, baseline }: BenchResult): string {
  const beside = baseline === undefined ? '' : `${baseline.name}: ${rounded(baseline.value)}`;
  const ratio = baseline === undefined ? '' : `${(value / baseline.value).toFixed(2)} ×`;
  return [name.padEnd(58), rounded(value).padStart(9), unit.padEnd(9), ratio.padStart(8), ' ', beside]
    .join(' ')
    .trimEnd();
}

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, 'idle-seconds': { type: 'string' } },
  allowPositionals: true,
});

const idle = values['idle-seconds'];
const idleSeconds = idle === undefined ? {} : { idleSeconds: Number(idle) };

console.log(
  `Node ${process.version}, ${process.platform} ${process.arch}${values.quick ? ', quick: not to be quoted' : ''}`,
);
for (const [name, run] of await benches(positionals)) {
  console.log(`\n${name}`);
  for (const result of await run({ quick: values.quick, ...idleSeconds })) console.log(`  ${lineOf(result)}`);
}

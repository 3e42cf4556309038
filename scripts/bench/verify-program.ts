// Verifies one trail in a process of its own, says how much memory that took at most, and ends with the verdict's code.
import { openSqliteSource } from '../../src/audit/sqlite-source.ts';
import { readAnchor } from '../../src/audit/verify/anchors.ts';
import { reportOf } from '../../src/audit/verify/report.ts';
import { verifyTrail } from '../../src/audit/verify/verify.ts';
import { letGoSoon } from '../../src/commands/small-engine.ts';
import { parseVerifierKey } from '../../src/core/signed-note.ts';
import type { MadeTrail } from './trail-maker.ts';

// As the command does.
letGoSoon();
const asked = JSON.parse(process.argv[2] ?? '{}') as MadeTrail & { readonly projections: boolean };
const { signal } = new AbortController();
const parsed = parseVerifierKey(asked.key);
const anchor = await readAnchor({ type: 'file', path: asked.anchors }, signal);
await using source = openSqliteSource(asked.path);
const report = reportOf(
  await verifyTrail(source, {
    ...{ keys: parsed.status === 'parsed' ? [parsed.key] : [], anchors: [anchor], signal },
    // The trail was made on a clock of its own: what it says of time is not what is measured.
    ...{
      now: asked.at + 10_000,
      maxAgeMs: 7_200_000,
      projections: asked.projections,
      accept: new Set(['seal-hole'] as const),
    },
  }),
);
console.log(`peak ${process.resourceUsage().maxRSS} kB`);
console.log(report.sentence);
process.exitCode = report.exitCode;

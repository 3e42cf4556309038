// Verifies a trail as a test wants it, and keeps what matters of the answer.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openSqliteSource } from '../../src/audit/sqlite-source.ts';
import type { TrailSource } from '../../src/audit/store.ts';
import { reportOf, type VerifyReport } from '../../src/audit/verify/report.ts';
import { type VerifyOptions, verifyTrail } from '../../src/audit/verify/verify.ts';
import { notesIn } from '../../src/core/note-list.ts';
import { fillHonestly, type Keeper, keeperOf, keyNamed, signWith, TrailClock } from './honest-trail.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** A trail that was filled once, to be copied for each test. */
export interface KeptTrail extends Disposable {
  readonly path: string;
  readonly keeper: Keeper;
  /** A copy of the file under this name. */
  copy(name: string): string;
}

export const honestKey = keyNamed('fleet.example/trail');

/** @param fill what the consumer did; the honest story unless given */
export async function keptTrail(
  fill: (keeper: Keeper) => Promise<void> = fillHonestly,
  /** Null when nobody signs. */
  key: typeof honestKey | null = honestKey,
): Promise<KeptTrail> {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const clock = new TrailClock();
  const store = openSqliteTrail(path, { sign: key === null ? null : signWith(key), now: clock.now });
  const keeper = keeperOf(store, clock, key ?? honestKey);
  await fill(keeper);
  await store[Symbol.asyncDispose]();
  return {
    ...{ path, keeper },
    copy: (name) => {
      const to = join(directory.path, name.replaceAll(/\W+/g, '-'));
      copyFileSync(path, to);
      return to;
    },
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

/** How a test verifies. */
export type Asked = Partial<Omit<VerifyOptions, 'anchors'>> & {
  /** What an anchor keeps, as it stands in its file. */
  readonly anchored?: string;
};

export async function verified(source: TrailSource, { anchored, ...asked }: Asked): Promise<VerifyReport> {
  const anchors =
    anchored === undefined ? [] : [{ place: 'elsewhere', notes: notesIn(anchored ?? ''), fault: null }];
  const { signal } = new AbortController();
  return reportOf(
    await verifyTrail(source, {
      ...{ keys: [honestKey.verifier], now: 0, maxAgeMs: 7_200_000, signal, anchors },
      ...asked,
    }),
  );
}

export async function verifiedFile(path: string, asked: Asked): Promise<VerifyReport> {
  await using source = openSqliteSource(path);
  return await verified(source, asked);
}

/** `code stream:index` of everything that is not only a note; local streams by their kind. */
export const found = ({ findings }: VerifyReport): string[] =>
  findings
    .filter(({ severity }) => severity !== 'note')
    .map(({ code, stream, index }) =>
      [code, stream === null ? '' : `${placeName(stream)}${index === null ? '' : `:${index}`}`]
        .join(' ')
        .trim(),
    );

const placeName = (stream: string): string => {
  const [first, , third] = stream.split('/');
  return first === 'trail' ? (third ?? '') : `p${third}`;
};

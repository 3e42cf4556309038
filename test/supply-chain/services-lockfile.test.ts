// The same rules for what the tests of services install beside the project: by hash, from the registry, without scripts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import metadata from '../services/package.json' with { type: 'json' };
import lock from '../services/package-lock.json' with { type: 'json' };
import { projectRoot } from '../support/source-files.ts';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

const locked = Object.entries(lock.packages as Readonly<Record<string, Locked>>).filter(
  ([path]) => path !== '',
);

it('every package has a hash, and comes from whichever registry the machine has', () => {
  const strange = locked.filter(
    ([, { integrity, resolved, link }]) => !/^sha512-/.test(integrity ?? '') || resolved || link,
  );
  expect(strange.map(([path]) => path)).toEqual([]);
});

it('was locked for this very package.json, in versions that move by hand only', () => {
  expect(lock).toMatchObject({ name: metadata.name, lockfileVersion: 3 });
  expect(lock.packages[''].devDependencies).toEqual(metadata.devDependencies);
  const versions = Object.values({ ...metadata.devDependencies, ...metadata.overrides });
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

it('runs no script at installation', () => {
  const having = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  // It only warns about versions: https://github.com/protobufjs/protobuf.js, scripts/postinstall.js.
  expect(having).toEqual(['node_modules/protobufjs']);
  expect(metadata.allowScripts).toEqual({ protobufjs: false });
});

it('obeys the same settings as the project', () => {
  const settings = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
  expect(settings('test/services/.npmrc')).toBe(settings('.npmrc'));
});

it('is part of nothing that is shipped', () => {
  const root = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8'));
  expect(Object.keys(root.packages).filter((path) => path.includes('azurite'))).toEqual([]);
});

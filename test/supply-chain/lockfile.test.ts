// What may come from the registry, and what of it may run code while it is installed.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import nodeBinaries from '../../infra/packages/node-binaries.json' with { type: 'json' };
import metadata from '../../package.json' with { type: 'json' };
import lock from '../../package-lock.json' with { type: 'json' };
import { projectRoot } from '../support/source-files.ts';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly libc?: readonly string[];
  readonly hasInstallScript?: boolean;
}

const locked = Object.entries(lock.packages as Readonly<Record<string, Locked>>).filter(
  ([path]) => path !== '',
);
const nameOf = (path: string): string => path.replace(/^.*node_modules\//, '');

/**
 * Every package with a script that runs at installation, in the version that somebody looked at, and why it may or
 * may not run. `allowScripts` cannot hold the versions: npm compares them with addresses that our lockfile leaves out.
 */
const looked = {
  esbuild: { version: '0.28.2', runs: true, why: 'checks that its own binary for this platform starts' },
  node: { version: '24.21.0', runs: true, why: 'fetches the Node that everything here runs on' },
  'tree-sitter-bicep': { version: '1.1.0', runs: false, why: 'compiles an addon; the tests use its wasm' },
};

describe('a script of a dependency that runs at installation', () => {
  it('is allowed or denied by name, in the version that was looked at', () => {
    const having = locked.filter(([, { hasInstallScript }]) => hasInstallScript);
    expect(Object.fromEntries(having.map(([path, { version }]) => [nameOf(path), version]))).toEqual(
      Object.fromEntries(Object.entries(looked).map(([name, { version }]) => [name, version])),
    );
    expect(metadata.allowScripts).toEqual(
      Object.fromEntries(Object.entries(looked).map(([name, { runs }]) => [name, runs])),
    );
  });

  it('that nobody looked at ends the installation', () => {
    expect(readFileSync(join(projectRoot, '.npmrc'), 'utf8')).toMatch(/^strict-allow-scripts=true$/m);
  });
});

describe('every package of the lockfile', () => {
  it('has a hash, but for a linter of platforms that were not to be had when the lockfile was written', () => {
    const without = locked.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? ''));
    expect(without.map(([path]) => nameOf(path)).filter((name) => !name.startsWith('@biomejs/cli-'))).toEqual(
      [],
    );
    const onOurs = without.filter(
      ([, { optional, os, libc }]) => !optional || (os?.includes('linux') && !libc?.includes('musl')),
    );
    expect(onOurs).toEqual([]);
  });

  it('comes from the registry, and from whichever the machine has', () => {
    expect(locked.filter(([, { resolved, link, inBundle }]) => resolved || link || inBundle)).toEqual([]);
    const specifiers = [
      ...Object.values(metadata.dependencies),
      ...Object.values(metadata.devDependencies),
    ].filter((specifier) => !/^\^?\d+\.\d+\.\d+(-[\w.]+)?$/.test(specifier));
    expect(specifiers).toEqual([]);
  });

  it.each(['git', 'remote', 'file', 'directory'])('cannot become one from a %s', (source) => {
    const settings = readFileSync(join(projectRoot, '.npmrc'), 'utf8').split('\n');
    expect(settings).toContain(`allow-${source}=none`);
  });

  it('was locked for this very package.json', () => {
    const { name, version, dependencies, devDependencies } = lock.packages[''];
    expect({ name, version, dependencies, devDependencies }).toEqual({
      name: metadata.name,
      version: metadata.version,
      dependencies: metadata.dependencies,
      devDependencies: metadata.devDependencies,
    });
    expect(lock).toMatchObject({ name: metadata.name, version: metadata.version, lockfileVersion: 3 });
  });
});

describe('the Node that everything runs on', () => {
  it('has the version that was looked at', () => {
    expect(process.version).toBe(`v${looked.node.version}`);
  });

  // The script that fetches it asks the registry, not the lockfile: the record is its lock.
  it('is to the byte the binary that was looked at, on the platforms we release for', () => {
    const platform = `${process.platform}-${process.arch}`.replace('win32', 'win');
    const binary = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
    const path = join(projectRoot, 'node_modules/node', binary);
    const hash = createHash('sha512').update(readFileSync(path)).digest('hex');
    const recorded: Readonly<Record<string, string>> = nodeBinaries.sha512;
    expect(recorded[platform] ?? hash).toBe(hash);
  });

  it('is recorded for every platform we release for', () => {
    expect(nodeBinaries.version).toBe(looked.node.version);
    expect(Object.keys(nodeBinaries.sha512)).toEqual(['linux-x64', 'linux-arm64', 'win-x64']);
  });
});

// Small packages around the real program, run from source, with the real scripts of the maintainer: what an installer must get right does not depend on their size.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const program = 'usr/lib/scheduled-events-bridge/bin/seb';

export interface StandIn {
  readonly version: string;
  /** Changes its source, such as the version of what it keeps on disk. */
  readonly change?: (source: string) => void;
}

/** Makes a tree of files, as a package lays them out, with the program of another version in it. */
export function standInTree(directory: string, { version, change }: StandIn): string {
  const source = join(directory, `source-${version}`);
  cpSync(join(checkout, 'src'), join(source, 'src'), { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), join(source, 'node_modules'));
  const metadata = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  writeFileSync(join(source, 'package.json'), JSON.stringify({ ...metadata, version }));
  change?.(source);
  const tree = join(directory, `tree-${version}`);
  mkdirSync(join(tree, 'usr/bin'), { recursive: true });
  mkdirSync(join(tree, 'usr/lib/scheduled-events-bridge/bin'), { recursive: true });
  const launcher = `#!/bin/sh\nexec ${process.execPath} ${source}/src/cli.ts "$@"\n`;
  writeFileSync(join(tree, program), launcher, { mode: 0o755 });
  symlinkSync('../lib/scheduled-events-bridge/bin/seb', join(tree, 'usr/bin/seb'));
  const units = join(tree, 'usr/lib/systemd/system');
  cpSync(join(checkout, 'infra/systemd'), units, {
    recursive: true,
    filter: (path) => !basename(path).includes('.') || /\.(service|path)$/.test(path),
  });
  return tree;
}

/** @returns the file name */
export function standInDeb(directory: string, tree: string, version: string): string {
  const name = `scheduled-events-bridge_${version}_amd64.deb`;
  mkdirSync(join(tree, 'DEBIAN'));
  for (const script of ['postinst', 'prerm', 'postrm'])
    writeFileSync(join(tree, 'DEBIAN', script), readFileSync(join(checkout, 'infra/packages/deb', script)), {
      mode: 0o755,
    });
  const control = ['Package: scheduled-events-bridge', `Version: ${version}`, 'Architecture: amd64'];
  const about = ['Maintainer: nobody <nobody@example.com>', 'Description: a stand-in', ''];
  writeFileSync(join(tree, 'DEBIAN/control'), [...control, ...about].join('\n'));
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', tree, join(directory, name)]);
  return name;
}

/** @returns the file name */
export function standInRpm(directory: string, tree: string, version: string): string {
  const spec = `Name: scheduled-events-bridge
Version: ${version}
Release: 1
Summary: A stand-in
License: MIT
AutoReqProv: no
%description
A stand-in.
%files
/usr/bin/seb
/usr/lib/scheduled-events-bridge
/usr/lib/systemd/system/*
`;
  writeFileSync(join(directory, 'stand-in.spec'), spec);
  const defines = [
    `_topdir ${join(directory, 'rpmbuild')}`,
    `_rpmdir ${directory}`,
    '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm',
  ];
  const options = defines.flatMap((each) => ['--define', each]);
  execFileSync('rpmbuild', [
    '-bb',
    '--quiet',
    ...options,
    '--buildroot',
    tree,
    '--noclean',
    '--nodebuginfo',
    join(directory, 'stand-in.spec'),
  ]);
  return `scheduled-events-bridge-${version}-1.x86_64.rpm`;
}

/** Writes SHA256SUMS for these files of a directory. */
export function writeSums(directory: string, names: readonly string[]): void {
  const lines = names.map((name) => `${sha256(join(directory, name))}  ${name}\n`);
  writeFileSync(join(directory, 'SHA256SUMS'), lines.join(''));
}

export const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

/** @returns the file name */
export function standInTar(directory: string, tree: string, version: string): string {
  const name = `scheduled-events-bridge-${version}-linux-x64.tar.gz`;
  execFileSync('tar', ['-czf', join(directory, name), '--owner=0', '--group=0', '-C', tree, 'usr']);
  return name;
}

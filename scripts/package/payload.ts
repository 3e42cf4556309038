// Says which files an installation consists of, and lays them out as a tree for whatever packs them.
import {
  chmodSync,
  cpSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BuildPlan, changelogPath, packageName, pathsOf, projectRoot } from './artefacts.ts';
import { manual } from './manual.ts';

export interface PayloadEntry {
  /** Where it is installed, without the first slash. */
  readonly path: string;
  readonly mode: number;
  readonly kind: 'file' | 'directory' | 'link';
  /** Of a file: where to copy it from, or its bytes. Of a link: what it leads to. */
  readonly source:
    | { readonly path: string }
    | { readonly bytes: Buffer }
    | { readonly target: string }
    | null;
}

export const libraryFolder = `usr/lib/${packageName}`;
export const documentationFolder = `usr/share/doc/${packageName}`;
export const configurationFolder = `etc/${packageName}`;
const unitFolder = 'usr/lib/systemd/system';
const unitKinds = ['.service', '.path', '.socket', '.timer', '.target'];

const infra = (path: string): string => join(projectRoot, 'infra', path);
const filesIn = (path: string): string[] => readdirSync(infra(path)).toSorted();

/** Everything that deb and rpm install. The configuration is not among it: whoever writes it starts the service. */
export async function payloadOf(plan: BuildPlan): Promise<readonly PayloadEntry[]> {
  return [
    // In a folder `bin`, because SELinux's policy takes what is there, and no other file below /usr/lib, for a program
    // that a service may be. Source: corecommands of the reference policy, `/usr/lib/(.*/)?bin(/.*)?` is bin_t.
    copied(`${libraryFolder}/bin/seb`, pathsOf(plan).executable, 0o755),
    link('usr/bin/seb', `../lib/${packageName}/bin/seb`),
    ...unitFiles().map((name) => copied(`${unitFolder}/${name}`, infra(`systemd/${name}`))),
    copied(`${libraryFolder}/older-systemd.conf`, infra('systemd/drop-ins/older-systemd.conf')),
    ...documentation(plan),
    file('usr/share/man/man1/seb.1.gz', compressed(Buffer.from(await manual()))),
    directory(configurationFolder, 0o755),
    directory(`${configurationFolder}/credentials`, 0o700),
  ];
}

/** The units that are shipped. */
export const unitFiles = (): string[] =>
  filesIn('systemd').filter((name) => unitKinds.includes(extname(name)));

function documentation(plan: BuildPlan): PayloadEntry[] {
  const examples = (folder: string, to: string): PayloadEntry[] =>
    filesIn(folder).map((name) =>
      copied(`${documentationFolder}/examples/${to}${name}`, infra(`${folder}/${name}`)),
    );
  return [
    copied(`${documentationFolder}/copyright`, pathsOf(plan).licenses),
    file(`${documentationFolder}/changelog.gz`, compressed(readFileSync(changelogPath))),
    ...examples('packages/examples', ''),
    ...examples('systemd/drop-ins', 'drop-ins/'),
    ...examples('hooks', 'hooks/'),
  ];
}

/** Without a name and a time in it: those would be of this machine. */
const compressed = (bytes: Buffer): Buffer => gzipSync(bytes, { level: 9 });

const copied = (path: string, from: string, mode = 0o644): PayloadEntry => ({
  ...{ path, mode, kind: 'file' },
  source: { path: from },
});
const file = (path: string, bytes: Buffer): PayloadEntry => ({
  ...{ path, mode: 0o644, kind: 'file' },
  source: { bytes },
});
const link = (path: string, target: string): PayloadEntry => ({
  ...{ path, mode: 0o777, kind: 'link' },
  source: { target },
});
const directory = (path: string, mode: number): PayloadEntry => ({
  path,
  mode,
  kind: 'directory',
  source: null,
});

/** Lays files out below a folder, each with its mode, everything with the time of the sources. */
export function layOut(entries: readonly PayloadEntry[], root: string, { epochSeconds }: BuildPlan): void {
  for (const { path, mode, source } of entries) {
    const at = join(root, path);
    makeFolder(source === null ? at : dirname(at));
    if (source === null) chmodSync(at, mode);
    else if ('target' in source) symlinkSync(source.target, at);
    else {
      if ('path' in source) cpSync(source.path, at);
      else writeFileSync(at, source.bytes);
      chmodSync(at, mode);
    }
  }
  for (const path of [root, ...allBelow(root)]) lutimesSync(path, epochSeconds, epochSeconds);
}

/** Open to all, whatever the umask of whoever builds. */
function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o755 });
  for (let at = path; first !== undefined && at.length >= first.length; at = dirname(at))
    chmodSync(at, 0o755);
}

const allBelow = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => join(root, path));

// Builds the image as a release does, and unpacks it as a node does.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { planOf } from '../../scripts/package/artefacts.ts';
import { buildExecutable } from '../../scripts/package/executable.ts';
import { projectRoot } from '../support/source-files.ts';
import { type Ended, runAsRoot } from './cluster-node.ts';

/** What an image says about itself: https://github.com/opencontainers/image-spec/blob/main/config.md. */
export interface ImageConfiguration {
  readonly created: string;
  readonly architecture: string;
  readonly os: string;
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Cmd?: readonly string[];
    readonly WorkingDir: string;
    readonly StopSignal: string;
    readonly Labels: Readonly<Record<string, string>>;
  };
}

export interface Image {
  readonly configuration: ImageConfiguration;
  /** Where its files are. */
  readonly root: string;
}

/** What the image is made of. */
export interface Ingredients {
  readonly executable: string;
  readonly notices: string;
}

export async function buildIngredients(directory: string): Promise<Ingredients> {
  const plan = planOf({ outDirectory: directory });
  const executable = join(directory, 'seb-linux-x64');
  await buildExecutable('linux-x64', executable, plan);
  return { executable, notices: join(directory, 'LICENSES.txt') };
}

/** @returns how the script ended; its standard output is the digest */
export function buildImage(
  { executable, notices }: Ingredients,
  archive: string,
  options: readonly string[] = [],
): Promise<Ended> {
  const script = join(projectRoot, 'infra/container/build.sh');
  const environment = ['env', 'SOURCE_DATE_EPOCH=1790000000', 'REVISION=of-a-test'];
  return runAsRoot([...environment, script, ...options, executable, notices, archive]);
}

interface Descriptor {
  readonly digest: string;
}

/** @returns the image, unpacked below `directory` with the owners and modes that it has */
export async function unpackImage(archive: string, directory: string): Promise<Image> {
  const layout = join(directory, 'layout');
  const root = join(directory, 'root');
  mkdirSync(layout);
  mkdirSync(root, { mode: 0o755 });
  await untar(archive, layout);
  const blob = ({ digest }: Descriptor): string => join(layout, 'blobs', digest.replace(':', '/'));
  const read = <Content>(path: string): Content => JSON.parse(readFileSync(path, 'utf8')) as Content;
  const [named] = read<{ manifests: Descriptor[] }>(join(layout, 'index.json')).manifests;
  if (named === undefined) throw new Error('the archive holds no image');
  const manifest = read<{ config: Descriptor; layers: Descriptor[] }>(blob(named));
  for (const layer of manifest.layers) await untar(blob(layer), root);
  return { configuration: read<ImageConfiguration>(blob(manifest.config)), root };
}

async function untar(archive: string, directory: string): Promise<void> {
  const { exitCode, stderr } = await runAsRoot([
    ...['tar', '--extract', '--same-owner', '--same-permissions', '--numeric-owner'],
    ...['--file', archive, '--directory', directory],
  ]);
  if (exitCode !== 0) throw new Error(stderr);
}

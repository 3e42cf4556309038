// Finds the Node that goes into an executable, and makes sure that it is the very one that was recorded.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildPlan, PackagingError, pathsOf, projectRoot } from './artefacts.ts';
import { runTool } from './tools.ts';

export const platforms = ['linux-x64', 'linux-arm64', 'win-x64'] as const;
export type Platform = (typeof platforms)[number];

export interface Recorded {
  readonly version: string;
  readonly sha512: Readonly<Record<Platform, string>>;
}

export const recordPath = join(projectRoot, 'infra/packages/node-binaries.json');
export const nodeLicensePath = join(projectRoot, 'infra/packages/NODE-LICENSE.txt');

/** Of the binary in npm's package, unpacked. */
export const binaryPath = (platform: Platform): string =>
  platform === 'win-x64' ? 'package/bin/node.exe' : 'package/bin/node';

/**
 * Finds a Node for a platform: the one given, the one that npm installed here, or the one in npm's package for the
 * platform. The lockfile does not pin what the package `node` fetches when it is installed; the record does.
 * @returns its path
 * @throws PackagingError when it is not the version that runs this, or not the bytes that were recorded
 */
export function findNode(platform: Platform, plan: BuildPlan): string {
  if (plan.nodePath !== undefined) return checkedVersion(plan.nodePath);
  const path = platform === installedPlatform ? installedPath : fetched(platform, plan);
  checkDigest(path, platform);
  return path;
}

const installedPlatform = `${process.platform}-${process.arch}`;
const installedPath = join(projectRoot, 'node_modules/node/bin/node');

/**
 * A Node that somebody vouches for: releases take nodejs.org's, by its SHASUMS256.txt. What is put into it was made
 * by the Node that runs this, and both have to be the same version (Node's documentation of single executables).
 */
function checkedVersion(path: string): string {
  if (!existsSync(path)) throw new PackagingError(`there is no Node at ${path}`);
  if (!readFileSync(path).includes(process.version))
    throw new PackagingError(`${path} is not Node ${process.version}, which builds and tests this project`);
  return path;
}

/** Npm's package for one platform, kept between builds. */
function fetched(platform: Platform, plan: BuildPlan): string {
  const { version } = recorded();
  const folder = join(pathsOf(plan).cache, `node-${platform}-${version}`);
  const path = join(folder, binaryPath(platform));
  if (!existsSync(path)) fetchNode(platform, version, folder);
  return path;
}

/** Unpacks npm's package for a platform into a folder; npm checks it against the registry's own digest. */
export function fetchNode(platform: Platform, version: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  // For npm, what it packs comes from an address, which the project's .npmrc forbids; here a digest follows.
  const options = ['--loglevel=error', '--allow-remote=all', '--pack-destination', folder];
  runTool('npm', ['pack', ...options, `node-${platform}@${version}`]);
  const archive = join(folder, `node-${platform}-${version}.tgz`);
  runTool('tar', ['-xzf', archive, '-C', folder, '--no-same-owner']);
  rmSync(archive);
}

function checkDigest(path: string, platform: Platform): void {
  const { version, sha512 } = recorded();
  if (process.versions.node !== version)
    throw new PackagingError(
      `this is Node ${process.versions.node}, and infra/packages/node-binaries.json records ${version}: see the README there`,
    );
  if (!existsSync(path)) throw new PackagingError(`there is no Node at ${path}: run "npm ci"`);
  if (digestOf(path) !== sha512[platform])
    throw new PackagingError(
      `${path} is not the Node ${version} that infra/packages/node-binaries.json records`,
    );
}

export const digestOf = (path: string): string =>
  createHash('sha512').update(readFileSync(path)).digest('hex');

const recorded = (): Recorded => JSON.parse(readFileSync(recordPath, 'utf8')) as Recorded;

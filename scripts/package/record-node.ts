// Records which Node goes into the executables: the digests of npm's packages of the version that runs this.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  binaryPath,
  digestOf,
  fetchNode,
  nodeLicensePath,
  type Platform,
  platforms,
  type Recorded,
  recordPath,
} from './node-binary.ts';

const version = process.versions.node;
const work = mkdtempSync(join(tmpdir(), 'seb-record-'));
try {
  const digests = platforms.map((platform) => {
    const folder = join(work, platform);
    fetchNode(platform, version, folder);
    return [platform, digestOf(join(folder, binaryPath(platform)))] as const;
  });
  const sha512 = Object.fromEntries(digests) as Record<Platform, string>;
  const recorded: Recorded = { version, sha512 };
  writeFileSync(recordPath, `${JSON.stringify(recorded, null, 2)}\n`);
  // The package for Windows holds none; it is one text for all.
  copyFileSync(join(work, 'linux-x64/package/LICENSE'), nodeLicensePath);
  console.log(`recorded Node ${version}: look at the change before you commit it`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

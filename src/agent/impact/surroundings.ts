// Looks where this VM is: on which temporary disk, which does not survive a move, and in which fault domain.
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Place } from '../../core/impact.ts';
import type { ObserverSource } from '../observer-source.ts';

export interface Surroundings {
  /** As last seen. */
  current(): Place;
  /** Looks again, in a while; never twice at once. @returns without waiting */
  look(): void;
  /** Has instance metadata asked again; never twice at once. @returns without waiting */
  ask(): void;
}

export function openSurroundings(path: string | undefined, observer: ObserverSource): Surroundings {
  let temporaryDisk: string | null = null;
  return {
    current: () => ({ faultDomain: observer.current().faultDomain, temporaryDisk }),
    // A disk that hangs holds up nobody: the answer just never comes.
    look: oneAtATime(async () => {
      temporaryDisk = await temporaryDiskId(path);
    }),
    ask: oneAtATime(() => observer.refresh()),
  };
}

function oneAtATime(work: () => Promise<void>): () => void {
  let isBusy = false;
  return () => {
    if (isBusy) return;
    isBusy = true;
    work()
      .catch(() => undefined)
      .finally(() => {
        isBusy = false;
      });
  };
}

/**
 * Where images for Azure mount it: the Linux agent, cloud-init, and Windows.
 * https://learn.microsoft.com/azure/virtual-machines/managed-disks-overview#temporary-disk
 */
const usualPlaces = process.platform === 'win32' ? ['D:\\'] : ['/mnt/resource', '/mnt'];
// Lies on the temporary disk and nowhere else: a data disk may be mounted in the same places.
const warning = 'DATALOSS_WARNING_README.txt';

/**
 * Names the temporary disk by the birth of its file system: who is moved gets another one. Nothing is written to it.
 * @param path where it is mounted; looked for in its usual places when not given
 * @returns null when there is none, or its file system does not know its birth
 */
export async function temporaryDiskId(
  path: string | undefined,
  places: readonly string[] = usualPlaces,
): Promise<string | null> {
  if (path !== undefined) return fileSystemId(path);
  for (const place of places) {
    const isTemporary = await stat(join(place, warning)).then(
      () => true,
      () => false,
    );
    const id = isTemporary ? await fileSystemId(place) : null;
    if (id !== null) return id;
  }
  return null;
}

async function fileSystemId(path: string): Promise<string | null> {
  const parent = dirname(path);
  const [root, above] = await Promise.all([stat(path), stat(parent)]).catch(() => []);
  // A folder that nothing is mounted on belongs to another disk. The root of a drive has nothing above it.
  if (!root || !above || (root.dev === above.dev && parent !== path)) return null;
  // A file system that keeps no birth gives nothing, or the time of the last change instead.
  if (root.birthtimeMs <= 0 || root.birthtimeMs === root.ctimeMs) return null;
  return `${Math.floor(root.birthtimeMs)}-${root.ino}`;
}

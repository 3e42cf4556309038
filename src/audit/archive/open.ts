// Opens a copy of a trail where settings or a command line say: in a folder, or in a container of blobs.
import { type ContainerSettings, openContainer } from '../../blobs/container.ts';
import type { Secret } from '../../config/secret.ts';
import type { TrailSource } from '../store.ts';
import { openArchiveSource } from './archive-source.ts';
import { openBlobFiles } from './blob-files.ts';
import type { ArchiveFiles } from './files.ts';
import { openFolderFiles } from './folder-files.ts';

/** The `archive` of the consumer's settings. */
export interface ArchiveSettings extends ContainerSettings {
  readonly type: 'folder' | 'blob';
  readonly path?: string | undefined;
}

/** What a command line names. */
export type CopyPlace =
  | { readonly type: 'folder'; readonly path: string }
  /** The address may end in a signature that gives access, so it is a secret. */
  | { readonly type: 'container'; readonly url: Secret };

/** The files of the copy that the settings name; nothing is reached or made yet. */
export const openArchiveFiles = (settings: ArchiveSettings): ArchiveFiles =>
  settings.type === 'folder' ? openFolderFiles(settings.path ?? '.') : openBlobFiles(openContainer(settings));

/**
 * Opens a copy for reading.
 * @throws TrailUnusable when it cannot be read, or is none
 */
export const openCopySource = (copy: CopyPlace): Promise<TrailSource> =>
  openArchiveSource(
    copy.type === 'folder' ? openFolderFiles(copy.path) : openBlobFiles(openContainer({ address: copy.url })),
  );

// Opens the trail that the settings or a command line name, in whichever store it is.
import type { TrailSettings } from '../config/consumer-trail.ts';
import { openSqliteTrail } from './sqlite.ts';
import { openSqliteReader } from './sqlite-reader.ts';
import { openSqliteSource } from './sqlite-source.ts';
import type { TrailOptions, TrailReader, TrailSource, TrailStore } from './store.ts';

/**
 * Opens a trail for writing.
 * @throws TrailUnusable
 */
export async function openTrail(settings: TrailSettings, options: TrailOptions = {}): Promise<TrailStore> {
  if (settings.type === 'sqlite') return openSqliteTrail(settings.path, options);
  return await (await import('./postgres/trail.ts')).openPostgresTrail(settings, options);
}

/**
 * Opens a trail for questions.
 * @throws TrailUnusable
 */
export async function openTrailReader(settings: TrailSettings): Promise<TrailReader> {
  if (settings.type === 'sqlite') return openSqliteReader(settings.path);
  return await (await import('./postgres/reader.ts')).openPostgresReader(settings);
}

/**
 * Opens a trail at one moment, to be checked or copied.
 * @throws TrailUnusable
 */
export async function openTrailSource(settings: TrailSettings): Promise<TrailSource> {
  if (settings.type === 'sqlite') return openSqliteSource(settings.path);
  return await (await import('./postgres/source.ts')).openPostgresSource(settings);
}

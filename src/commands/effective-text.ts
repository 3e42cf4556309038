// The effective settings of a file as text, without their secrets: what is shown, and what the journal keeps the hash of.
import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import type * as z from 'zod';
import { effectiveSettings } from '../config/effective.ts';
import { jsonSchemaOf } from '../config/json-schema.ts';
import { readConfiguration } from '../config/load.ts';

/**
 * As YAML, with every default filled in.
 * @param path of a file that was found valid
 */
export const effectiveText = (path: string, settings: z.ZodType): string =>
  stringify(effectiveSettings(jsonSchemaOf(settings), readConfiguration(path)));

/** SHA-256 in hex over that text: `seb config show … | sha256sum` gives the same. */
export const effectiveSha256 = (path: string, settings: z.ZodType): string =>
  createHash('sha256').update(effectiveText(path, settings)).digest('hex');

// The texts of the scenarios that ship with the product.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';

// A bundle has no folder beside it: `scripts/build.ts` puts the texts in the place of this whole file.
const folder = new URL('./scenarios/', import.meta.url);

export const libraryNames = (): readonly string[] =>
  readdirSync(folder)
    .filter((file) => extname(file) === '.yaml')
    .map((file) => basename(file, '.yaml'))
    .sort();

/** @param name one of `libraryNames()` */
export const libraryText = (name: string): string => readFileSync(new URL(`${name}.yaml`, folder), 'utf8');

// A value that must never reach a log, an error or a screen: it is read at the moment of use.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { inspect } from 'node:util';
import * as z from 'zod';

/** Thrown by `reveal` when the file or variable is not there; its message holds the place, never the value. */
export class SecretUnreadable extends Error {}

/** Holds where a secret comes from. Printing, logging and serializing it give the place, not the value. */
export class Secret {
  /** `file:PATH`, `env:NAME`, `credential:NAME` or `plain`. */
  readonly place: string;
  readonly #read: () => string;

  constructor(place: string, read: () => string) {
    this.place = place;
    this.#read = read;
  }

  /**
   * The value, read anew each time, so that a rotated file counts without a restart.
   * @throws SecretUnreadable
   */
  reveal(): string {
    try {
      return this.#read();
    } catch {
      throw new SecretUnreadable(`the secret at ${this.place} cannot be read`);
    }
  }

  toString(): string {
    return `[secret ${this.place}]`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

const fromFile = z
  .strictObject({ file: z.string().min(1).describe('Path of a file that holds the value.') })
  .transform(({ file }) => new Secret(`file:${file}`, () => notBlank(readFileSync(file, 'utf8'))));

const fromEnvironment = z
  .strictObject({ env: z.string().min(1).describe('Name of an environment variable that holds the value.') })
  .transform(({ env }) => new Secret(`env:${env}`, () => notBlank(process.env[env] ?? '')));

/** Where the packaged services load their credentials from, and where they are when no service runs. */
const credentialDirectory = '/etc/scheduled-events-bridge/credentials';
// systemd puts the id of `LoadCredential=` before the names of the files of a directory.
const credentialIdPrefix = 'seb_';

const named = z.strictObject({
  credential: z
    .string()
    .regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/, 'Expected a name of letters, digits, ".", "_" and "-"')
    .describe(
      'Name of a credential that systemd hands to the service; outside of a service, name of a file in /etc/scheduled-events-bridge/credentials.',
    ),
});

const fromCredential = named.transform(
  ({ credential }) =>
    new Secret(`credential:${credential}`, () => notBlank(readFileSync(credentialPath(credential), 'utf8'))),
);

function credentialPath(name: string): string {
  const directory = process.env['CREDENTIALS_DIRECTORY'];
  if (directory === undefined) return join(credentialDirectory, name);
  const own = join(directory, name);
  return existsSync(own) ? own : join(directory, `${credentialIdPrefix}${name}`);
}

const plain = z
  .string()
  .min(1)
  .transform((value) => new Secret('plain', () => notBlank(value)));

/** A setting given as `{ file: PATH }`, `{ credential: NAME }`, `{ env: NAME }` or a plain string. */
export const secret = () =>
  z
    .union(
      [fromFile, fromCredential, fromEnvironment, plain],
      'Expected { file: PATH }, { credential: NAME }, { env: NAME } or a string',
    )
    .meta({ secret: true });

/** A setting that names a file of secrets by its path, or as `{ credential: NAME }`: either way it becomes the path. */
export const secretFile = () =>
  z.union(
    [z.string().min(1), named.transform(({ credential }) => credentialPath(credential))],
    'Expected a path or { credential: NAME }',
  );

function notBlank(text: string): string {
  const value = text.trim();
  if (value === '') throw new Error('blank');
  return value;
}

/** The paths of secrets that stand in the configuration file itself: worth a warning each. */
export const plainSecrets = (settings: unknown): string[] =>
  secretsIn(settings).flatMap(([path, { place }]) => (place === 'plain' ? [path] : []));

/** The secrets that cannot be read now, each as `setting (place)`. */
export const unreadableSecrets = (settings: unknown): string[] =>
  secretsIn(settings).flatMap(([path, each]) => (isReadable(each) ? [] : [`${path} (${each.place})`]));

function isReadable(given: Secret): boolean {
  try {
    given.reveal();
    return true;
  } catch (error) {
    if (error instanceof SecretUnreadable) return false;
    throw error;
  }
}

/**
 * The paths of secrets in files that every user of the machine may read: worth a warning each.
 * None on Windows, where the mode of a file says nothing about who may read it.
 */
export const exposedSecrets = (settings: unknown): string[] =>
  secretsIn(settings).flatMap(([path, { place }]) => (anybodyMayRead(place) ? [path] : []));

const readByOthers = 0o004;
const enteredByOthers = 0o001;

const anybodyMayRead = (place: string): boolean =>
  place.startsWith('file:') && isOpenToAll(place.slice('file:'.length));

/** Whether every user of the machine may read this file. False on Windows, where its mode does not say. */
export function isOpenToAll(path: string): boolean {
  if (process.platform === 'win32') return false;
  const absolute = resolve(path);
  return (
    hasMode(absolute, readByOthers) &&
    directoriesAbove(absolute).every((each) => hasMode(each, enteredByOthers))
  );
}

const directoriesAbove = (path: string): string[] => {
  const above = dirname(path);
  return above === path ? [] : [above, ...directoriesAbove(above)];
};

function hasMode(path: string, bits: number): boolean {
  try {
    return (statSync(path).mode & bits) !== 0;
  } catch {
    // What this program cannot even look at is no news about others.
    return false;
  }
}

function secretsIn(value: unknown, path = ''): readonly (readonly [path: string, Secret])[] {
  if (value instanceof Secret) return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    secretsIn(child, path === '' ? key : `${path}.${key}`),
  );
}

// Secrets: where they come from, and that nothing which prints them ever shows their value.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import {
  exposedSecrets,
  plainSecrets,
  type Secret,
  SecretUnreadable,
  secret,
  secretFile,
} from '../../src/config/secret.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const marker = 'hunter2-marker';
const parse = (value: unknown): Secret => secret().parse(value);

describe('a secret', () => {
  test('in a file is read without the white space around it, anew each time', () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, 'secret');
    writeFileSync(file, ` ${marker}\r\n`);
    const found = parse({ file });
    expect(found.reveal()).toBe(marker);
    writeFileSync(file, 'rotated\n');
    expect(found.reveal()).toBe('rotated');
    expect(found.place).toBe(`file:${file}`);
  });

  test('in a file may not be there yet when the configuration is read', () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, 'later');
    const found = parse({ file });
    expect(() => found.reveal()).toThrow(new SecretUnreadable(`the secret at file:${file} cannot be read`));
    writeFileSync(file, marker);
    expect(found.reveal()).toBe(marker);
    rmSync(file);
    expect(() => found.reveal()).toThrow(SecretUnreadable);
  });

  test('in a file or variable that is blank cannot be read', () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, 'blank');
    writeFileSync(file, ' \n');
    expect(() => parse({ file }).reveal()).toThrow(SecretUnreadable);
    expect(() => parse({ file: directory.path }).reveal()).toThrow(SecretUnreadable);
    process.env['SEB_TEST_BLANK'] = ' ';
    expect(() => parse({ env: 'SEB_TEST_BLANK' }).reveal()).toThrow(SecretUnreadable);
    delete process.env['SEB_TEST_BLANK'];
    expect(() => parse({ env: 'SEB_TEST_BLANK' }).reveal()).toThrow(SecretUnreadable);
  });

  test('in a variable of the environment is read at the moment of use', () => {
    const found = parse({ env: 'SEB_TEST_SECRET' });
    process.env['SEB_TEST_SECRET'] = `${marker}\n`;
    expect(found.reveal()).toBe(marker);
    expect(found.place).toBe('env:SEB_TEST_SECRET');
    delete process.env['SEB_TEST_SECRET'];
  });

  test('is a credential that systemd hands over, by its own name or with the id of its directory', () => {
    using directory = temporaryDirectory();
    const found = parse({ credential: 'slack.url' });
    expect(found.place).toBe('credential:slack.url');
    process.env['CREDENTIALS_DIRECTORY'] = directory.path;
    try {
      expect(() => found.reveal()).toThrow(SecretUnreadable);
      writeFileSync(join(directory.path, 'seb_slack.url'), `${marker}\n`);
      expect(found.reveal()).toBe(marker);
      writeFileSync(join(directory.path, 'slack.url'), 'its-own\n');
      expect(found.reveal()).toBe('its-own');
    } finally {
      delete process.env['CREDENTIALS_DIRECTORY'];
    }
  });

  test('that is a credential has a plain name, which leads nowhere else', () => {
    for (const credential of ['../shadow', 'a/b', '.hidden', '', '..']) {
      expect(secret().safeParse({ credential }).success, credential).toBe(false);
    }
  });

  test('may stand in the configuration itself', () => {
    expect(parse(`${marker}\n`).reveal()).toBe(marker);
    expect(parse(marker).place).toBe('plain');
    expect(parse('x').reveal()).toBe('x');
  });

  test.each(['', 7, null, [], {}, { file: '' }, { env: '' }, { file: 7 }, { file: 'a', env: 'b' }])(
    'is not given as %j',
    (value) => {
      const result = secret().safeParse(value);
      expect(result.error?.issues.map(({ message }) => message)).toEqual([
        'Expected { file: PATH }, { credential: NAME }, { env: NAME } or a string',
      ]);
    },
  );
});

test('a secret in a file has no other setting', () => {
  const [issue] = secret().safeParse({ file: 'a', mode: 'b' }).error?.issues ?? [];
  expect(issue).toMatchObject({ code: 'unrecognized_keys', keys: ['mode'] });
});

describe('nothing shows the value of a secret', () => {
  const found = parse(marker);
  const log = (value: object): string => {
    let text = '';
    const stream = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    });
    pino({}, stream).info(value, `${String(found)}`);
    return text;
  };

  test.each<[string, () => string]>([
    ['a template', () => `${found}`],
    ['a sum of texts', () => `x ${String(found)}`],
    ['JSON', () => JSON.stringify({ found, list: [found] })],
    ['inspect', () => inspect({ found, list: [[found]] }, { depth: 9, showHidden: true })],
    ['its fields', () => JSON.stringify({ ...found, keys: Object.getOwnPropertyNames(found) })],
    ['the log', () => log({ found, list: [found] })],
    ['an error', () => inspect(new Error('x', { cause: found }), { depth: 9 })],
  ])('not %s, which shows where it stands', (_what, show) => {
    expect(show()).not.toContain(marker);
    expect(show()).toContain('plain');
  });

  test('and what is shown is short', () => {
    expect([`${found}`, JSON.parse(JSON.stringify(found)), inspect(found)]).toEqual(
      Array(3).fill('[secret plain]'),
    );
    expect(Object.keys(found)).toEqual(['place']);
  });
});

test('the secrets in files that every user may read are named by their paths, and no others', () => {
  using directory = temporaryDirectory();
  chmodSync(directory.path, 0o755);
  mkdirSync(join(directory.path, 'closed'), { mode: 0o700 });
  mkdirSync(join(directory.path, 'closed', 'open'), { mode: 0o755 });
  const file = (name: string, mode: number) => {
    const path = join(directory.path, name);
    writeFileSync(path, marker);
    chmodSync(path, mode);
    return { file: path };
  };
  const settings = {
    open: parse(file('open', 0o644)),
    sinks: { deep: [parse(file('deep', 0o604))], group: parse(file('group', 0o640)) },
    mine: parse(file('mine', 0o600)),
    behind: parse(file('closed/behind', 0o644)),
    farBehind: parse(file('closed/open/behind', 0o644)),
    missing: parse({ file: join(directory.path, 'missing') }),
    plain: parse(marker),
    variable: parse({ env: 'HOME' }),
  };
  expect(exposedSecrets(settings)).toEqual(['open', 'sinks.deep.0']);
});

describe('the secrets that stand in the file itself', () => {
  test('are named by their paths, and no others', () => {
    const settings = {
      sinks: { hook: { url: parse(marker), secrets: [parse({ file: 'a' }), parse(marker)] } },
      empty: null,
      level: 'info',
      token: parse({ env: 'TOKEN' }),
    };
    expect(plainSecrets(settings)).toEqual(['sinks.hook.url', 'sinks.hook.secrets.1']);
    expect(plainSecrets({})).toEqual([]);
  });
});

describe('a file of secrets', () => {
  const parse = (value: unknown) => secretFile().safeParse(value);

  test('is named by its path, or by the name of a credential: in a service the one that systemd handed over', () => {
    using directory = temporaryDirectory();
    expect(parse('/keys/trail.key').data).toBe('/keys/trail.key');
    expect(parse({ credential: 'trail.key' }).data).toBe(
      '/etc/scheduled-events-bridge/credentials/trail.key',
    );
    process.env['CREDENTIALS_DIRECTORY'] = directory.path;
    try {
      writeFileSync(join(directory.path, 'seb_trail.key'), marker);
      expect(parse({ credential: 'trail.key' }).data).toBe(join(directory.path, 'seb_trail.key'));
    } finally {
      delete process.env['CREDENTIALS_DIRECTORY'];
    }
  });

  test.each(['', 7, null, {}, { credential: '../shadow' }, { file: '/keys/trail.key' }])(
    'is not named by %j',
    (value) => {
      expect(parse(value).success).toBe(false);
    },
  );
});

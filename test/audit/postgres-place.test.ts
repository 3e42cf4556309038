// What the URL of a trail in PostgreSQL may say, the texts its tables hold, and the script that makes them: no server needed.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAddress } from '../../src/audit/postgres/address.ts';
import { failureOf, sentenceFor } from '../../src/audit/postgres/failure.ts';
import { trailScript } from '../../src/audit/postgres/roles.ts';
import { migrations, schemaVersion } from '../../src/audit/postgres/schema.ts';
import { fromColumn, toColumn } from '../../src/audit/postgres/text.ts';
import { issueCertificate } from '../support/certificate.ts';
import { projectRoot } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

describe('a URL', () => {
  it('names user, password, host, port and database, also with escapes', () => {
    expect(readAddress('postgres://a%40b:p%3A%2F@db.example:6432/the%20trail', undefined)).toEqual({
      ...{ host: 'db.example', port: 6432, user: 'a@b', password: 'p:/', database: 'the trail' },
      ...{ ssl: { rejectUnauthorized: true }, protection: 'over TLS' },
    });
    expect(readAddress('postgresql://u@[::1]/d', undefined)).toMatchObject({
      ...{ host: '::1', port: 5432, password: null, ssl: false },
    });
    expect(readAddress('postgres://u@%2Frun%2Fpostgresql/d', undefined)).toMatchObject({
      ...{ host: '/run/postgresql', ssl: false, protection: 'on this machine' },
    });
  });

  it.each([
    ['db.example', '', 'over TLS'],
    ['10.0.0.4', '', 'over TLS'],
    ['db.example', '?sslmode=require', 'over TLS'],
    ['db.example', '?sslmode=verify-ca', 'over TLS'],
    ['db.example', '?sslmode=verify-full', 'over TLS'],
    ['db.example', '?sslmode=disable', 'without TLS'],
    ['127.0.0.1', '', 'on this machine'],
    ['127.8.9.1', '', 'on this machine'],
    ['localhost', '', 'on this machine'],
    ['localhost', '?sslmode=require', 'over TLS'],
    // A name that only looks like this machine.
    ['127.0.0.1.example', '', 'over TLS'],
    ['localhost.example', '', 'over TLS'],
  ])('with host %s and %s is reached %s', (host, parameters, protection) => {
    const place = readAddress(`postgres://u:p@${host}/d${parameters}`, undefined);
    expect(place.protection).toBe(protection);
    expect(place.ssl).toEqual(protection === 'over TLS' ? { rejectUnauthorized: true } : false);
  });

  it.each([
    'mysql://u:hunter2@h/d',
    'postgres://hunter2@/d',
    'postgres://:hunter2@h/d',
    'postgres://u:hunter2@h',
    'postgres://u:hunter2@h/a/b',
    'postgres://u:hunter2%@h/d',
    'postgres://u:hunter2@h/d?sslmode=prefer',
    'postgres://u:hunter2@h/d?sslmode=allow',
    'postgres://u:hunter2@h/d?sslmode=no-verify',
    'postgres://u:hunter2@h/d?sslmode=',
    'postgres://u:hunter2@h/d?ssl=false',
    'postgres://u:hunter2@h/d?sslrootcert=/x',
    'postgres://u:hunter2@h/d?uselibpqcompat=true&sslmode=require',
    'postgres://u:hunter2@h/d?host=elsewhere',
    'hunter2',
  ])('%s is refused in a sentence that does not show it', (url) => {
    expect(() => readAddress(url, undefined)).toThrow(/^the URL of the trail /);
    expect(() => readAddress(url, undefined)).not.toThrow(/hunter2|elsewhere/);
  });

  it('goes with an authority that is a certificate, which then counts on this machine too', () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, 'ca.pem');
    const { cert } = issueCertificate();
    writeFileSync(file, cert);
    const ssl = { rejectUnauthorized: true, ca: cert };
    expect(readAddress('postgres://u@localhost/d', file)).toMatchObject({ ssl, protection: 'over TLS' });
    expect(() => readAddress('postgres://u@h/d', `${file}.not`)).toThrow('cannot be read');
    writeFileSync(file, 'nothing');
    expect(() => readAddress('postgres://u@h/d', file)).toThrow('holds no certificate');
  });
});

describe('texts', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\0', '\\', 'u', '0', '\ud83d', '\udca5', '💥') });

  it('come back as they were, and no two become one', () =>
    fc.assert(
      fc.property(text, text, (one, other) => {
        const stored = toColumn(one);
        expect(stored.isWellFormed() && !stored.includes('\0')).toBe(true);
        expect(fromColumn(stored)).toBe(one);
        expect(stored === toColumn(other)).toBe(one === other);
      }),
    ));

  it('that need no change have none', () => {
    expect(toColumn('/subscriptions/s/web-7 💥 ä')).toBe('/subscriptions/s/web-7 💥 ä');
  });
});

describe('failures', () => {
  it('are told in words of ours: what a server or a driver says may hold anything', () => {
    const said = Object.assign(new Error('hunter2'), { severity: 'ERROR', code: '28P01' });
    expect([failureOf(said), sentenceFor(said)]).toEqual([
      'unauthorized',
      expect.not.stringContaining('hunter2'),
    ]);
    const refused = Object.assign(new Error('connect ECONNREFUSED hunter2'), { code: 'ECONNREFUSED' });
    expect([failureOf(refused), sentenceFor(refused)]).toEqual([
      'unreachable',
      'its server cannot be reached',
    ]);
    for (const code of [
      ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENOENT'],
      ...['ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SOCKET_CLOSED'],
      ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CERT_HAS_EXPIRED'],
    ]) {
      expect(failureOf(Object.assign(new Error('anything'), { code })), code).toBe('unreachable');
    }
    expect(failureOf(Object.assign(new Error('a bug'), { code: 'ERR_SQLITE_ERROR', errcode: 1 }))).toBeNull();
    expect(failureOf(Object.assign(new Error('full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 }))).toBe(
      'disk-full',
    );
    expect(failureOf(new TypeError('a bug'))).toBeNull();
    expect(failureOf(new RangeError('a bug'))).toBeNull();
    expect(failureOf(Object.assign(new TypeError('a bug'), { code: 'ERR_INVALID_ARG_TYPE' }))).toBeNull();
  });
});

describe('infra/postgres/trail.sql', () => {
  it('is what `npm run docs` writes now', () => {
    expect(readFileSync(join(projectRoot, 'infra/postgres/trail.sql'), 'utf8')).toBe(trailScript());
  });

  it('leads to the version that the program wants', () => {
    expect(migrations).toHaveLength(schemaVersion);
    expect(trailScript()).toContain(`INSERT INTO seb.version (number) VALUES (${schemaVersion});`);
  });
});

// The settings of HTTP sinks: what a file may say about TLS and proxies.
import { describe, expect, it } from 'vitest';
import { plainSecrets } from '../../src/config/secret.ts';
import { sinkSettings } from '../support/sink-kinds.ts';

const parse = (more: object) => sinkSettings.safeParse({ type: 'webhook', url: 'https://x.test', ...more });

describe('the settings of an HTTP sink', () => {
  it('need no word about TLS or a proxy', () => {
    expect(parse({}).data).toMatchObject({ tls: {} });
    expect(parse({}).data).not.toHaveProperty('proxy');
  });

  it.each([
    [{ certFile: '/cert.pem' }, ['tls']],
    [{ keyFile: '/key.pem' }, ['tls']],
    [{ caFile: '' }, ['tls', 'caFile']],
    [{ serverName: '10.0.0.4' }, ['tls', 'serverName']],
    [{ rejectUnauthorized: false }, ['tls']],
  ])('refuse %j as TLS', (tls, path) => {
    expect(parse({ tls }).error?.issues[0]?.path).toEqual(path);
  });

  it('hold the passphrase and the proxy as secrets', () => {
    const tls = { certFile: '/cert.pem', keyFile: '/key.pem', passphrase: 'pl41n' };
    const { data } = parse({ tls, proxy: 'http://user:pl41n@proxy.test:3128' });
    expect(plainSecrets(data)).toEqual(expect.arrayContaining(['tls.passphrase', 'proxy']));
    expect(JSON.stringify(data)).not.toContain('pl41n');
  });
});

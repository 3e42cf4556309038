// What the services' units must keep to for SECURITY.md to be true, whatever else changes in them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../support/source-files.ts';

const units = ['scheduled-events-bridge-agent.service', 'scheduled-events-bridge-consumer.service'];

/** The values of each setting of a unit, in order: some are given more than once. */
function settingsOf(unit: string): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(join(projectRoot, 'infra/systemd', unit), 'utf8');
  const lines = [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => ({ key, value }));
  const groups = Map.groupBy(lines, ({ key }) => key);
  return new Map([...groups].map(([key, all]) => [key, all.map(({ value }) => value)]));
}

describe('the unit', () => {
  it.each(units)('%s leaves no memory of its own behind', (unit) => {
    const settings = settingsOf(unit);
    expect(settings.get('LimitCORE')).toEqual(['0']);
    expect(settings.get('WatchdogSignal')).toEqual(['SIGKILL']);
    expect(settings.get('MemorySwapMax')).toEqual(['0']);
  });

  it.each(units)('%s runs as nobody, with nothing that it could use', (unit) => {
    const expected = {
      DynamicUser: ['yes'],
      NoNewPrivileges: ['yes'],
      CapabilityBoundingSet: [''],
      AmbientCapabilities: [''],
      ProtectSystem: ['strict'],
      ProtectHome: ['yes'],
      PrivateDevices: ['yes'],
      NoExecPaths: ['/'],
      StateDirectoryMode: ['0700'],
      UMask: ['0077'],
    };
    expect(Object.fromEntries(settingsOf(unit))).toMatchObject(expected);
  });

  it.each(units)('%s takes nothing from its environment that could change the program', (unit) => {
    const unset = settingsOf(unit).get('UnsetEnvironment')?.join(' ').split(' ');
    const dangerous = ['NODE_OPTIONS', 'NODE_TLS_REJECT_UNAUTHORIZED', 'NODE_EXTRA_CA_CERTS', 'LD_PRELOAD'];
    expect(unset).toEqual(expect.arrayContaining([...dangerous, 'HTTPS_PROXY', 'https_proxy']));
  });

  it.each(units)('%s holds no secret: they come as credentials', (unit) => {
    const settings = settingsOf(unit);
    expect(settings.get('Environment')).toEqual(['NODE_ENV=production']);
    expect(settings.has('EnvironmentFile')).toBe(false);
    expect(settings.get('LoadCredential')).toEqual(['seb:/etc/scheduled-events-bridge/credentials']);
  });

  it.each(units)('%s reaches no link-local address but the metadata service', (unit) => {
    const settings = settingsOf(unit);
    expect(settings.get('IPAddressDeny')?.join(' ').split(' ')).toContain('link-local');
    expect(settings.get('IPAddressAllow')).toEqual(['169.254.169.254/32']);
  });
});

// The demo scale set: what its agent is told by the cloud-init text that the template makes of infra/cloud-init.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfiguration } from '../../src/config/load.ts';
import { agentSettings } from '../support/sink-kinds.ts';
import { projectRoot } from '../support/source-files.ts';
import { evaluate, scopeOf, type Value } from './support/evaluate.ts';
import { declared, readProject } from './support/project.ts';

const project = readProject();
const template = readFileSync(join(projectRoot, 'infra/cloud-init/agent.yaml'), 'utf8');

describe('the demo scale set', () => {
  const example = scopeOf(project, 'bicep/examples/demo-scale-set.bicepparam');
  const given = (change: Readonly<Record<string, Value>> = {}): Record<string, Value> => ({
    ...Object.fromEntries(
      Object.entries(example).map(([name, value]) => [name, typeof value === 'function' ? value() : value]),
    ),
    ...change,
  });

  /** The cloud-init text as the template makes it. */
  function cloudInit(change: Readonly<Record<string, Value>> = {}): string {
    const scope = scopeOf(project, 'bicep/fleet.bicep', given(change)) as Record<
      string,
      Value | (() => Value)
    >;
    scope['cloudInitTemplate'] = template;
    const node = declared(project, 'bicep/fleet.bicep', 'cloudInitText')?.node.namedChildren.at(-1);
    return node === undefined ? '' : String(evaluate(node, scope));
  }

  function agentIn(text: string) {
    const { write_files } = parse(text) as {
      readonly write_files: readonly { readonly path: string; readonly content: string }[];
    };
    const file = write_files.find(({ path }) => path === '/etc/scheduled-events-bridge/agent.yaml');
    return parseConfiguration(file?.content ?? '', 'agent.yaml', agentSettings);
  }

  it('has an agent that tells the hub and the relay, and needs no secret', () => {
    const text = cloudInit();
    expect(text).toMatch(/^#cloud-config\n/);
    expect(text).not.toMatch(/@[A-Z0-9_]+@/);
    expect(text).not.toContain('type: slack');
    const { sinks, status } = agentIn(text);
    expect(sinks).toMatchObject({
      fleet: {
        type: 'eventhubs',
        fullyQualifiedNamespace: 'NAMESPACE.servicebus.windows.net',
        clientId: given()['agentIdentityClientId'],
      },
      relay: {
        type: 'logicapps',
        auth: 'managedIdentity',
        clientId: given()['agentIdentityClientId'],
        timeout: 30_000,
      },
    });
    expect(Object.keys(sinks)).toEqual(['fleet', 'relay']);
    // The health extension asks there.
    expect(status).toMatchObject({ listen: { host: '127.0.0.1', port: 9464 } });
  });

  it('has an agent that tells the hub alone where there is no relay', () => {
    expect(Object.keys(agentIn(cloudInit({ relayAddress: '' })).sinks)).toEqual(['fleet']);
  });

  it('fetches no secret, and installs the package whose hash it was given', () => {
    const text = cloudInit({
      packageSha256: 'abc123',
      installerSha256: 'def456',
      packagePlace: 'https://example.org/p',
    });
    const { runcmd } = parse(text) as { readonly runcmd: readonly (readonly string[])[] };
    expect(runcmd).toEqual([['/usr/local/sbin/scheduled-events-bridge-setup']]);
    expect(text).toContain('package_sha256=abc123\n');
    expect(text).toContain('installer_sha256=def456\n');
    expect(text).toContain('place=https://example.org/p\n');
  });
});

// What can be known of infra/cloud-init/agent.yaml without the tools of a distribution.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { agentSettings } from '../support/sink-kinds.ts';

interface CloudConfig {
  readonly write_files: readonly {
    readonly path: string;
    readonly permissions: string;
    readonly content: string;
  }[];
  readonly runcmd: readonly (readonly string[])[];
}

const folder = new URL('../../infra/cloud-init/', import.meta.url);
const text = readFileSync(new URL('agent.yaml', folder), 'utf8');
const page = readFileSync(new URL('README.md', folder), 'utf8');
const config = parse(text) as CloudConfig;
const file = (name: string) => config.write_files.find(({ path }) => path.endsWith(`/${name}`));
const placeholders = (of: string): Set<string> => new Set(of.match(/@[A-Z][A-Z0-9_]*@/g));

test('it says in its first line what it is, as cloud-init asks', () => {
  expect(text.split('\n')[0]).toBe('#cloud-config');
});

test('its agent.yaml is one that the agent accepts, with every secret elsewhere', () => {
  const filled = (file('agent.yaml')?.content ?? '').replace('@NAMESPACE@', 'example');
  const { sinks } = agentSettings.parse(parse(filled));
  expect(Object.keys(sinks)).toEqual(['fleet', 'ops']);
  expect(JSON.stringify(parse(filled).sinks.ops.url)).toBe('{"credential":"slack.url"}');
});

test('its hub is signed in to with the identity that is named, or with the only one where none is', () => {
  const of = (clientId: string) => {
    const content = (file('agent.yaml')?.content ?? '').replace('@NAMESPACE@', 'example');
    const filled = content.replace('@IDENTITY_CLIENT_ID@', clientId);
    const removed = /-e '\/(clientId: "")\/d'/.exec(page)?.[1] ?? 'nothing';
    const lines = filled.split('\n').filter((line) => !line.includes(removed));
    return agentSettings.parse(parse(lines.join('\n'))).sinks['fleet'];
  };
  expect(of('1234')).toMatchObject({ type: 'eventhubs', clientId: '1234' });
  expect(of('')).not.toHaveProperty('clientId');
});

test('it approves nothing, and the events of its own people alone once that line is no comment any more', () => {
  const content = (file('agent.yaml')?.content ?? '').replace('@NAMESPACE@', 'example');
  expect(agentSettings.parse(parse(content)).approval.enabled).toBe(false);
  const { approval } = agentSettings.parse(parse(content.replace(/^# (?=approval:)/m, '')));
  expect(approval).toMatchObject({
    enabled: true,
    rules: [{ match: { sources: ['User'] }, action: 'approve' }],
  });
  expect(approval.rules).toHaveLength(1);
});

test('every credential that its agent.yaml names is fetched, under that name, and nothing else is', () => {
  const named = [...(file('agent.yaml')?.content ?? '').matchAll(/credential: ([\w.-]+)/g)].map(
    ([, name]) => name,
  );
  const [setup = []] = config.runcmd;
  expect(setup.slice(2).map((pair) => pair.split('=')[0])).toEqual(named);
});

test('what it runs is what it wrote, and may be run', () => {
  for (const [program = ''] of config.runcmd) {
    expect(config.write_files.find(({ path }) => path === program)?.permissions).toBe('0755');
  }
});

test('the command of its page fills in every word that is to be replaced', () => {
  const filled = placeholders(/```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
  expect([...placeholders(text)].toSorted()).toEqual([...filled].toSorted());
  expect(filled.size).toBeGreaterThan(5);
});

test('it fetches over TLS only, but for the metadata service, which speaks nothing else', () => {
  expect(text.match(/http:\/\/[^\s"]+/g)).toEqual(['http://169.254.169.254']);
});

test('it fits into the 64 KB of custom data', () => {
  expect(Buffer.byteLength(Buffer.from(text).toString('base64'))).toBeLessThan(64 * 1024);
});

// What can be known of infra/windows without Windows: nothing here shows that it runs there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { agentSettings } from '../support/sink-kinds.ts';
import { elementsOf, parseXml } from './xml.ts';

const folder = new URL('../../infra/windows/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
const service = parseXml(read('scheduled-events-bridge-agent.xml'));
const value = (name: string): string => service.children.find((each) => each.name === name)?.text ?? '';
const scripts = readdirSync(folder).filter((name) => name.endsWith('.ps1'));

// https://github.com/winsw/winsw/blob/e0d4fcb/docs/xml-config-file.md and docs/logging-and-error-reporting.md: what may
// stand below <service>, and below <log>.
const documented = [
  ...['id', 'executable', 'name', 'description', 'startmode', 'delayedAutoStart', 'depend', 'logpath', 'log'],
  ...[
    'arguments',
    'startarguments',
    'stoparguments',
    'stopexecutable',
    'prestart',
    'poststart',
    'prestop',
    'poststop',
  ],
  ...['preshutdown', 'preshutdownTimeout', 'stoptimeout', 'env', 'interactive', 'beeponshutdown', 'download'],
  ...['onfailure', 'resetfailure', 'securityDescriptor', 'serviceaccount', 'workingdirectory', 'priority'],
];
const documentedInLog = ['sizeThreshold', 'keepFiles', 'pattern', 'autoRollAtTime'];
const duration = /^\d+ (?:secs?|mins?|hours?|days?)$/;

test('the reader of XML refuses what is not well-formed', () => {
  for (const wrong of [
    '<a>',
    '<a></b>',
    '<a b=c/>',
    '<a/><b/>',
    '<a>&</a>',
    '<a><</a>',
    '<a>x</a>y',
    '<!-- -- --><a/>',
  ])
    expect(() => parseXml(wrong), wrong).toThrow();
  expect(parseXml('<a b="c"><d>&amp; e</d></a>').children[0]?.text).toBe('&amp; e');
});

test('WinSW documents every element of its configuration', () => {
  expect(service.name).toBe('service');
  const unknown = service.children.map(({ name }) => name).filter((name) => !documented.includes(name));
  const [log] = service.children.filter(({ name }) => name === 'log');
  const unknownInLog = log?.children
    .map(({ name }) => name)
    .filter((name) => !documentedInLog.includes(name));
  expect([...unknown, ...(unknownInLog ?? ['no log'])]).toEqual([]);
  expect(elementsOf(service).length).toBeGreaterThan(15);
});

test('its values have the forms that WinSW asks for', () => {
  // The page: "consist entirely out of alpha-numeric characters".
  expect(value('id')).toMatch(/^[A-Za-z0-9]+$/);
  const failures = service.children
    .filter(({ name }) => name === 'onfailure')
    .map(({ attributes }) => attributes);
  expect(failures.map(({ action }) => action)).toEqual(['restart', 'restart', 'restart']);
  const durations = [
    ...failures.map(({ delay }) => delay),
    value('stoptimeout'),
    value('preshutdownTimeout'),
    value('resetfailure'),
  ];
  for (const each of durations) expect(each).toMatch(duration);
});

test('a stop is given longer than the 10 seconds that the agent may take', () => {
  expect(Number.parseInt(value('stoptimeout'), 10)).toBeGreaterThan(10);
  expect(Number.parseInt(value('preshutdownTimeout'), 10)).toBeGreaterThan(
    Number.parseInt(value('stoptimeout'), 10),
  );
});

test('the configuration of the example is one that the agent accepts, below the folder of the service', () => {
  const text = read('agent.example.yaml');
  const { stateDir } = agentSettings.parse(parse(text));
  expect(stateDir).toBe('C:\\ProgramData\\scheduled-events-bridge\\state');
  const state = value('workingdirectory').replace('%ProgramData%', 'C:\\ProgramData');
  expect(state).toBe(stateDir);
  const credentials = service.children.find(
    ({ attributes }) => attributes['name'] === 'CREDENTIALS_DIRECTORY',
  );
  expect(credentials?.attributes['value']).toBe('%ProgramData%\\scheduled-events-bridge\\credentials');
  expect(value('arguments')).toContain('%ProgramData%\\scheduled-events-bridge\\agent.yaml');
});

/** The script without its comments and with empty strings: what is left has to balance. */
function skeleton(script: string): string {
  const lexeme = /#[^\n]*|'(?:[^']|'')*'|"(?:[^"`]|`.|"")*"|[\s\S]/g;
  return (script.match(lexeme) ?? []).map((part) => (part.length > 1 ? '' : part)).join('');
}

test('the scripts close every bracket and string, and hold nothing but ASCII', () => {
  expect(scripts).toEqual(['install.ps1', 'uninstall.ps1']);
  for (const name of scripts) {
    const script = read(name);
    expect(script).toMatch(/^[ -~\n]+$/);
    let left = skeleton(script).replace(/[^(){}[\]'"]/g, '');
    for (let before = ''; before !== left; ) {
      before = left;
      left = left.replace(/\(\)|\{\}|\[\]/g, '');
    }
    expect(left, name).toBe('');
  }
});

test('the scripts speak of the same service, folders and files as the configuration of WinSW', () => {
  for (const name of scripts) {
    const script = read(name);
    expect(/\$service = '(\w+)'/.exec(script)?.[1]).toBe(value('id'));
    expect(script).toContain(`'scheduled-events-bridge-agent.exe'`);
    expect(script).toContain(`Join-Path $env:ProgramData 'scheduled-events-bridge'`);
    expect(script).toContain(`$ErrorActionPreference = 'Stop'`);
  }
  const copied = [...read('install.ps1').matchAll(/Join-Path \$PSScriptRoot '([^']+)'/g)].map(
    ([, file = '']) => file,
  );
  expect(copied).toEqual(['seb.exe', 'scheduled-events-bridge-agent.xml']);
  expect(existsSync(new URL('scheduled-events-bridge-agent.xml', folder))).toBe(true);
});

test('nothing is touched before the hash, the program and the configuration were looked at', () => {
  const script = read('install.ps1');
  const places = ['Get-FileHash', "@('--version')", "@('config', 'show'", 'Stop-Service', 'Copy-Item'].map(
    (each) => script.indexOf(each),
  );
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(Math.min(...places)).toBeGreaterThan(0);
});

test('a folder that somebody else made is refused, before it is used and once nobody else gets in any more', () => {
  const script = read('install.ps1');
  const calls = [...script.matchAll(/^Assert-Owned$/gm)].map(({ index }) => index);
  const places = [
    calls[0],
    script.indexOf('Invoke-Program $new'),
    script.indexOf("'/inheritance:r'"),
    calls[1],
    script.indexOf('-Path $credentials, $state, $logs'),
  ];
  expect(calls).toHaveLength(2);
  expect(places).toEqual(places.toSorted((one = -1, other = -1) => one - other));
  expect(script).toContain('foreach ($path in $data, $credentials, $state, $logs, $configuration)');
});

test('every program that a script runs is asked how it ended', () => {
  for (const name of scripts) {
    const calls = [...read(name).matchAll(/^\s*& \$\S+.*\n(.*)$/gm)];
    expect(calls).toHaveLength(1);
    for (const [, next = ''] of calls) expect(next).toContain('if ($LASTEXITCODE -ne 0) { throw');
    expect(read(name)).not.toMatch(/^\s*(?:sc|icacls)\.exe/m);
  }
});

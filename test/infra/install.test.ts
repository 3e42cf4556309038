// What can be known of install.sh and of the VM Application without root and without the tools of a distribution.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const infra = new URL('../../infra/', import.meta.url);
const path = (name: string): string => fileURLToPath(new URL(name, infra));
const read = (name: string): string => readFileSync(new URL(name, infra), 'utf8');
const script = read('install.sh');
const run = (file: string, ...words: string[]) =>
  spawnSync('sh', [path(file), ...words], { encoding: 'utf8' });

test('its help names every option that it takes, and none that it does not', () => {
  const { stdout, status } = run('install.sh', '--help');
  expect(status).toBe(0);
  const told = new Set(stdout.match(/(?<=^ {2})--[a-z0-9-]+/gm));
  const cases = /\nparse\(\) \{[\s\S]*?\n\}/.exec(script)?.[0] ?? '';
  const taken = new Set(cases.match(/--[a-z0-9-]+(?= ?[|)])/g));
  expect([...taken].toSorted()).toEqual([...told].toSorted());
  expect(taken.size).toBeGreaterThan(8);
});

test('wrong usage ends with 2, a missing folder with 1, and both with one sentence, also for a user who is not root', () => {
  const wrong = [
    [['--from'], '--from needs a value', 2],
    [['--from', '/nowhere-at-all'], 'there is no directory /nowhere-at-all', 1],
    [['--version', '1.0.0'], 'there is no published place', 2],
    [['--from', 'http://127.0.0.1/'], 'must be an https URL or a directory', 2],
    [['--rollback', '--from', '/tmp'], 'leave --from, --version and the hashes out', 2],
    [['--from', '/tmp', '--format', 'zip'], '--format must be deb, rpm or tar', 2],
  ] as const;
  for (const [words, sentence, code] of wrong) {
    const { stderr, stdout, status } = run('install.sh', ...words);
    expect(stderr).toContain(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(status).toBe(code);
    expect(stdout).toBe('');
  }
});

test('nothing but its last line does anything, so that a part of it does nothing', () => {
  const outside = script.replace(/^\w+\(\) \{(?:.*\}$|[\s\S]*?^\})/gm, '');
  const lines = outside.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  expect(lines.filter((line) => !/^(?:set -eu|\w+=\S+)$/.test(line))).toEqual(['main "$@"']);
  expect(lines.at(-1)).toBe('main "$@"');
});

test('no request of it may leave TLS, and each has an end', () => {
  const requests = script.match(/curl --[\s\S]*?2>&1/g) ?? [];
  expect(requests).toHaveLength(1);
  for (const request of requests) {
    for (const option of [
      `--proto '=https'`,
      `--proto-redir '=https'`,
      '--tlsv1.2',
      '--max-time',
      '--max-filesize',
    ])
      expect(request).toContain(option);
  }
});

test('manage.sh knows the actions of the page', () => {
  const actions = [...read('vm-application/README.md').matchAll(/manage\.sh (\w+)`/g)].map(
    ([, action]) => action,
  );
  expect(actions).toEqual(['install', 'update', 'remove']);
  const cases = /case \$\{1:-\} in([\s\S]*?)esac/.exec(read('vm-application/manage.sh'))?.[1] ?? '';
  for (const action of actions) expect(cases).toContain(action);
});

test('the pages name only files that are there', () => {
  for (const folder of ['vm-application', 'cloud-init', 'windows']) {
    const links = [...read(`${folder}/README.md`).matchAll(/\]\(((?!https:)[^)#]+)/g)].map(
      ([, link = '']) => link,
    );
    for (const link of links) {
      const target = new URL(`${folder}/${link}`, infra);
      const [parent, name] = [new URL('.', target), link.split('/').at(-1) ?? ''];
      expect(readdirSync(parent), link).toContain(name);
    }
  }
});

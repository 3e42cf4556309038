// Whether SECURITY.md is true: each test that it names is there, and so are its commands and files.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import metadata from '../package.json' with { type: 'json' };
import { registry } from '../src/commands/registry.ts';
import { codeBlocks, pageText } from './support/markdown.ts';
import { projectRoot } from './support/source-files.ts';

const page = pageText('SECURITY.md');

interface Row {
  readonly threat: string;
  readonly defence: string;
  readonly heldBy: string;
}

/** The rows of the table of threats. */
function threats(): Row[] {
  const [, table = ''] = page.split('| Threat | Defence | Held by |\n| --- | --- | --- |\n');
  return (table.split('\n\n')[0] ?? '')
    .trim()
    .split('\n')
    .map((line) => line.replace(/^\| | \|$/g, '').split(' | '))
    .map(([threat = '', defence = '', heldBy = '']) => ({ threat, defence, heldBy }));
}

const named = threats().flatMap(({ threat, heldBy }) =>
  [...heldBy.matchAll(/`([^`]+)` "([^"]+)"/g)].map(([, path = '', name = '']) => ({ threat, path, name })),
);

/** The names that stand in a file as those of tests, or, in a shell script, as those of its proofs. */
function namesIn(path: string): string[] {
  const text = readFileSync(join(projectRoot, path), 'utf8');
  if (path.endsWith('.sh')) return [...text.matchAll(/['"]([^'"\n]{5,})['"]/g)].map(([, name = '']) => name);
  const call = /\b(?:it|test|each)(?:\.concurrent)?(?:\.each)?[^\n]*\(|^\s*\)\(|^\s*\]( as const)?\)\(/;
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const isCall = call.test(line) || /\($/.test((lines[index - 1] ?? '').trimEnd());
    return isCall ? [...line.matchAll(/(['"`])((?:(?!\1).)+)\1/g)].map(([, , name = '']) => name) : [];
  });
}

describe('the table of threats', () => {
  it('has a threat, a defence and a test in each row, or says that there is no defence of ours', () => {
    expect(threats().length).toBeGreaterThan(30);
    const incomplete = threats().filter(({ threat, defence, heldBy }) => {
      const names = /^`[^`]+` "[^"]+"(; `[^`]+` "[^"]+")*$/.test(heldBy);
      return threat === '' || defence === '' || !(names || (heldBy === 'none' && defence.startsWith('None')));
    });
    expect(incomplete).toEqual([]);
  });

  it.each(named)('names a test that there is: $path "$name"', ({ path, name }) => {
    expect(existsSync(join(projectRoot, path)), path).toBe(true);
    expect(namesIn(path)).toContain(name);
  });

  it('would find out a test that is gone', () => {
    expect(namesIn('test/security.test.ts')).toContain('would find out a test that is gone');
    const gone = ['would find out', 'a test that is gone'].join(' a mistake in ');
    expect(namesIn('test/security.test.ts')).not.toContain(gone);
  });

  it('covers every threat that the design knows, and more', () => {
    const words = [
      'approves',
      'SSRF',
      'core dump',
      'forges',
      'Slack',
      'Teams',
      'terminal',
      'malformed',
      'trail',
    ];
    const more = [
      'Replay',
      'disk fills',
      'wrong clock',
      'storm',
      'installed',
      'workflow',
      'list of processes',
    ];
    const all = threats()
      .map(({ threat }) => threat)
      .join('\n');
    expect([...words, ...more].filter((word) => !all.includes(word))).toEqual([]);
  });
});

describe('every command of the program', () => {
  it('has no option for a secret', async () => {
    const commands = await Promise.all(registry.map((line) => line.load()));
    const options = commands.flatMap(({ name, options: all }) =>
      Object.entries(all).map(([option, { value, description }]) => ({
        option: `${name} --${option}`,
        // What checks a signature is for everybody.
        isPublic: value === 'FILE' || description.startsWith('A verifier key'),
      })),
    );
    expect(options.length).toBeGreaterThan(20);
    const secret = /--.*(token|secret|password|key|credential|bearer)/i;
    expect(options.filter(({ option, isPublic }) => secret.test(option) && !isPublic)).toEqual([]);
  });
});

describe('the page', () => {
  it('supports the version that this is', () => {
    const minor = metadata.version.split('.').slice(0, 2).join('.');
    expect(page).toMatch(new RegExp(`^\\| ${minor.replace('.', '\\.')} \\| yes \\|$`, 'm'));
    expect(page).toContain(`scheduled-events-bridge-${metadata.version}.cdx.json`);
  });

  it('says of commands that were never run why they were not', () => {
    expect(codeBlocks('SECURITY.md', 'sh')).toHaveLength(1);
    expect(page).toMatch(/<!-- not run here: .{20,} -->\n\n```sh\n/);
  });

  it('names the workflow that signs, by which a download is verified', () => {
    expect(existsSync(join(projectRoot, '.github/workflows/release.yml'))).toBe(true);
    expect(page.match(/\.github\/workflows\/release\.yml@refs\/tags\/v[\d.]+/g)).toEqual(
      Array(2).fill(`.github/workflows/release.yml@refs/tags/v${metadata.version}`),
    );
  });
});

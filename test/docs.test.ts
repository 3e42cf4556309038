// Whether the pages of the project still say what is true.
import { appendFileSync, cpSync, existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import metadata from '../package.json' with { type: 'json' };
import { configurationPage } from '../scripts/docs.ts';
import { readArguments } from '../src/commands/arguments.ts';
import { registry } from '../src/commands/registry.ts';
import { parseConfiguration } from '../src/config/load.ts';
import { consumerSettingsFor } from '../src/consumer/settings.ts';
import { decideApproval } from '../src/core/approval.ts';
import type { ScheduledEvent } from '../src/core/document.ts';
import { openPassingMemory } from '../src/sinks/memory.ts';
import type { SinkType } from '../src/sinks/sink.ts';
import { documentOf, freeze } from './support/documents.ts';
import { openInbox } from './support/inbox.ts';
import { codeBlocks, commandLines, pageText } from './support/markdown.ts';
import { runNode } from './support/process.ts';
import { outgoing, sampleRecord } from './support/records.ts';
import { agentSettings, openSink, sinkSettings } from './support/sink-kinds.ts';
import { projectRoot } from './support/source-files.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

const pagesIn = (folder: string, recursive: boolean): string[] =>
  readdirSync(join(projectRoot, folder), { recursive, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

const pages = [...pagesIn('.', false), ...['docs', 'infra', 'bicep'].flatMap((each) => pagesIn(each, true))];

const schemas = { 'agent.yaml': agentSettings, 'consumer.yaml': await consumerSettingsFor() };
const scripts: readonly string[] = Object.keys(metadata.scripts);
const npmOwn = ['ci', 'pack', 'install'];

/** The command a line names and the words behind it; undefined when there is no such command. */
async function commandIn(words: readonly string[]) {
  const line = registry
    .filter(({ name }) => name.split(' ').every((word, index) => words[index] === word))
    .toSorted((a, b) => b.name.length - a.name.length)[0];
  return line && { command: await line.load(), rest: words.slice(line.name.split(' ').length) };
}

/** The names by which GitHub links to the headings of a page. */
const headingsOf = (page: string): string[] =>
  [...pageText(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** The words of a command line up to where a shell would take over. */
const wordsOf = (line: string): string[] => (line.split(/ [|>&] ?/)[0] ?? '').trim().split(/\s+/);

describe('every page', () => {
  it.each(pages)('%s names only npm scripts that exist', (page) => {
    const named = [...pageText(page).matchAll(/\bnpm (?:run (?:--silent )?)?([a-z]+)\b/g)].map(
      ([, name]) => name ?? '',
    );
    expect(named.filter((name) => !scripts.includes(name) && !npmOwn.includes(name))).toEqual([]);
  });

  it.each(pages)('%s shows only commands that can be called like that', async (page) => {
    for (const line of commandLines(page).filter((each) => each.startsWith('seb '))) {
      const found = await commandIn(wordsOf(line).slice(1));
      expect(found, line).toBeDefined();
      if (found !== undefined) readArguments(found.command, found.rest);
    }
  });

  it.each(pages)('%s links only to files that exist', (page) => {
    const targets = [...pageText(page).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(
      ([, path]) => path ?? '',
    );
    const folder = join(projectRoot, page, '..');
    expect(targets.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
  });

  it.each(pages)('%s links only to headings that exist', (page) => {
    const links = [...pageText(page).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
    const wrong = links.filter(([, path = '', heading = '']) => {
      const target = path === '' ? page : join(page, '..', path);
      return target.endsWith('.md') && !headingsOf(target).includes(heading);
    });
    expect(wrong.map(([text]) => text)).toEqual([]);
  });

  it.each(pages)('%s names only source files and folders that exist', (page) => {
    const paths = [...pageText(page).matchAll(/`((?:src|test|scripts|docs)\/[\w./-]*)`/g)].map(
      ([, path]) => path ?? '',
    );
    const fictitious = page === 'CONTRIBUTING.md' ? ['src/sinks/ntfy.ts', 'test/sinks/ntfy.test.ts'] : [];
    const missing = paths.filter(
      (path) => !existsSync(join(projectRoot, path)) && !fictitious.includes(path),
    );
    expect(missing).toEqual([]);
  });

  it.each(pages)('%s shows only configuration that the programs accept', (page) => {
    for (const { text } of codeBlocks(page, 'yaml')) {
      const place = /^# (agent\.yaml|consumer\.yaml)\n/.exec(text)?.[1] as keyof typeof schemas | undefined;
      if (place !== undefined) parseConfiguration(text, place, schemas[place]);
    }
  });
});

const undecided = {
  notBefore: null,
  approved: false,
  vmName: 'web1',
  preparation: 'none',
  undelivered: [],
} as const;

describe('the README', () => {
  it('sets up and shows the demo in one line, and the tests in another', () => {
    const lines = codeBlocks('README.md', 'sh').map(({ text }) => text.trim());
    expect(lines).toContain('npm ci && npm start');
    expect(lines).toContain('npm ci && npm test');
  });

  it('shows an example for the file of each program', () => {
    const first = codeBlocks('README.md', 'yaml').map(({ text }) => text.split('\n')[0]);
    expect(new Set(first)).toEqual(new Set(Object.keys(schemas).map((name) => `# ${name}`)));
  });

  it('has a line that approves what people of ours ask for, and nothing else', () => {
    const block = codeBlocks('README.md', 'yaml').find(({ text }) => text.includes('\napproval:'))?.text;
    const { approval } = parseConfiguration(block ?? '', 'agent.yaml', agentSettings);
    expect(approval.enabled).toBe(true);
    const [event] = documentOf([{ ...freeze, Resources: ['web1'] }]).events;
    const decide = (changes: Partial<ScheduledEvent>) => {
      if (event === undefined) throw new Error('there is no event');
      const at = Date.parse(event.notBefore ?? '') - 60_000;
      const subject = { ...undecided, event: { ...event, ...changes }, firstSeenAt: at };
      return decideApproval(subject, approval, at).status;
    };
    expect(decide({ eventSource: 'User' })).toBe('approve');
    expect(decide({ eventSource: 'User', eventType: 'Reboot', durationSeconds: null })).toBe('approve');
    expect(decide({ eventSource: 'Platform' })).toBe('refused');
    expect(decide({ eventSource: null })).toBe('refused');
    expect(decide({ eventSource: 'User', resources: ['web2'] })).toBe('nothing');
  });

  it.each(registry.map(({ name }) => name))('has "seb %s" in its table of commands', (name) => {
    const rows = pageText('README.md')
      .split('\n')
      .filter((line) => line.startsWith('| `seb '));
    expect(rows.some((row) => row.includes(`\`seb ${name}\``))).toBe(true);
  });

  it('warns that an agent switches Scheduled Events on', () => {
    expect(pageText('README.md')).toContain('switches them on for the VM');
  });
});

describe('docs/configuration.md', () => {
  it('is what `npm run docs` writes now', async () => {
    expect(pageText('docs/configuration.md')).toBe(await configurationPage());
  });
});

describe('the receiver in docs/sinks.md', () => {
  it('takes a signed webhook, and refuses one that somebody changed', async () => {
    const [code] = codeBlocks('docs/sinks.md', 'js');
    const { recordFrom } = await loadCode(code?.text ?? '', 'receiver.js');
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    await using inbox = await openInbox();
    const settings = sinkSettings.parse({
      type: 'webhook',
      url: inbox.url,
      allowHttp: true,
      secrets: [secret],
    });
    await using sink = openSink('hook', settings, sinkContext(inbox.url)).sink;
    const { record, bytes } = outgoing(sampleRecord());
    expect(await sink.send({ record, bytes }, new AbortController().signal)).toEqual({ status: 'delivered' });
    const { body, headers } = inbox.requests[0] ?? {};
    expect(recordFrom(body, headers, secret)).toEqual(JSON.parse(bytes.toString()));
    expect(() => recordFrom(Buffer.from(`${body} `), headers, secret)).toThrow('No matching signature');
  });
});

describe('the examples of `--help`', () => {
  it.each(registry.map((line) => [line.name, line] as const))(
    'of "seb %s" can be called',
    async (_, line) => {
      const { examples } = await line.load();
      for (const example of examples) {
        const found = await commandIn(wordsOf(example.line));
        expect(found?.command.name).toBe(line.name);
        if (found !== undefined) readArguments(found.command, found.rest);
      }
    },
  );
});

describe('the recipe for a sink in CONTRIBUTING.md', () => {
  const [file = '', registryLine = '', test = ''] = codeBlocks('CONTRIBUTING.md', 'ts').map(
    ({ text }) => text,
  );

  it('is a sink that delivers', async () => {
    const sinkType = await loadRecipe(file);
    await using inbox = await openInbox();
    const settings = sinkType.settings.parse({ url: inbox.url, allowHttp: true });
    await using sink = sinkType.open(settings, sinkContext(inbox.url));
    const { record, bytes } = outgoing(sampleRecord());
    expect(await sink.send({ record, bytes }, new AbortController().signal)).toEqual({ status: 'delivered' });
    expect(inbox.requests[0]?.body.toString()).toBe(`${record.severitytext} ${record.id}`);
    expect(inbox.requests[0]?.headers).toMatchObject({ tags: 'azure' });
  });

  it('gives a sink that keeps the contract, when it is followed to the letter', async () => {
    using copy = temporaryDirectory();
    for (const part of ['src', 'test/sinks', 'test/support', 'package.json', 'vitest.config.ts']) {
      cpSync(join(projectRoot, part), join(copy.path, part), { recursive: true });
    }
    symlinkSync(join(projectRoot, 'node_modules'), join(copy.path, 'node_modules'));
    writeFileSync(join(copy.path, 'src/sinks/ntfy.ts'), file);
    appendFileSync(join(copy.path, 'src/sinks/registry.ts'), registryLine);
    writeFileSync(join(copy.path, 'test/sinks/ntfy.test.ts'), test);
    const vitest = join(projectRoot, 'node_modules/vitest/vitest.mjs');
    const { exitCode, stdout, stderr } = await runNode([vitest, 'run', 'test/sinks/ntfy'], {
      cwd: copy.path,
    });
    expect(stdout + stderr).toMatch(/Tests .*\d+ passed/);
    expect(exitCode).toBe(0);
  }, 120_000);
});

const sinkContext = (imdsEndpoint: string) => ({
  imdsEndpoint,
  version: '1.0.0',
  memory: openPassingMemory(),
});

/** Runs the recipe's code as if it stood in src/sinks. */
async function loadRecipe(code: string): Promise<SinkType> {
  return (await loadCode(code, 'recipe.ts')).ntfy;
}

/** Runs code as if it stood in src/sinks. */
async function loadCode(code: string, name: string) {
  using folder = temporaryDirectory();
  const sinks = pathToFileURL(join(projectRoot, 'src/sinks/')).href;
  const moved = code.replaceAll(/from '([^']*)'/g, (_, from: string) =>
    from.startsWith('.') ? `from '${new URL(from, sinks).href}'` : `from '${import.meta.resolve(from)}'`,
  );
  const file = join(folder.path, name.replace(/js$/, 'mjs'));
  writeFileSync(file, moved);
  return await import(pathToFileURL(file).href);
}

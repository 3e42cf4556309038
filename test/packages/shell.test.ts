// Whether every shell script is one that its shell can read and that shellcheck finds nothing in.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

interface Script {
  readonly path: string;
  /** The shell that it asks for; a part that is sourced is read by bash, as what sources it is. */
  readonly shell: string;
}

/** The scripts that dpkg and rpm run have no ending that says so; dpkg's are named alike everywhere. */
const maintainerScripts = /\/(preinst|postinst|prerm|postrm|config)(\.sh)?$/;

/** What git has or would take. */
function files(): string[] {
  const words = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { stdout } = spawnSync('git', words, { cwd: projectRoot, encoding: 'utf8' });
  return stdout.split('\0').filter((path) => path !== '' && isFile(path));
}

const isFile = (path: string): boolean =>
  statSync(join(projectRoot, path), { throwIfNoEntry: false })?.isFile() ?? false;

/** Some are only read by others, which have said already what to do about a failure. */
const isProgram = (path: string): boolean => (statSync(join(projectRoot, path)).mode & 0o111) !== 0;

function scriptIn(path: string): readonly Script[] {
  const firstLine = readFileSync(join(projectRoot, path), 'utf8').split('\n', 1)[0] ?? '';
  const shell = /^#!\s*(?:\/usr)?(?:\/bin\/(?:env\s+)?)(bash|dash|sh)\b/.exec(firstLine)?.[1];
  if (shell !== undefined) return [{ path, shell }];
  return /\.(sh|bash)$/.test(path) || maintainerScripts.test(path) ? [{ path, shell: 'bash' }] : [];
}

const scripts = files().flatMap(scriptIn);

/** What GitHub runs in bash. */
function commandsOfWorkflows(): string[] {
  const folder = join(projectRoot, '.github/workflows');
  const workflows = readdirSync(folder).map(
    (name) => parse(readFileSync(join(folder, name), 'utf8')) as Workflow,
  );
  const steps = workflows.flatMap(({ jobs }) => Object.values(jobs).flatMap((job) => job.steps));
  return steps.flatMap((step) => (step.run === undefined ? [] : [step.run]));
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
}

const run = (command: string, words: readonly string[]) =>
  spawnSync(command, words, { cwd: projectRoot, encoding: 'utf8' });

describe('every shell script', () => {
  it('is found', () => {
    expect(scripts.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        '.ci/run',
        'test/packages/install-tools',
        'test/services/install',
        'infra/install.sh',
        'infra/test/boot.sh',
      ]),
    );
  });

  it.each(scripts)('$path can be read by its shell', ({ path, shell }) => {
    // `sh` is dash on the machines that these are for: what only bash knows is a fault in them.
    const { status, stderr } = run(shell === 'sh' ? 'dash' : shell, ['-n', path]);
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  it('has nothing in it that shellcheck warns of', () => {
    const words = ['--external-sources', '--source-path=SCRIPTDIR', '--format=gcc'];
    const { status, stdout, stderr } = run('shellcheck', [...words, ...scripts.map(({ path }) => path)]);
    expect(stdout + stderr).toBe('');
    expect(status).toBe(0);
  });

  it('in a workflow has nothing in it either that shellcheck warns of', () => {
    using directory = temporaryDirectory();
    const paths = commandsOfWorkflows().map((text, index) => {
      const path = join(directory.path, `${index}.sh`);
      writeFileSync(path, `#!/usr/bin/env bash\n${text}\n`);
      return path;
    });
    expect(paths.length).toBeGreaterThan(20);
    const { status, stdout, stderr } = run('shellcheck', ['--format=gcc', ...paths]);
    expect(stdout + stderr).toBe('');
    expect(status).toBe(0);
  });

  it('stops at its first failure', () => {
    const careless = scripts.filter(({ path }) => {
      const text = readFileSync(join(projectRoot, path), 'utf8');
      return (
        (isProgram(path) || /\/deb\//.test(path)) && !/^set -(e|eu|eux|euo pipefail|uo pipefail)$/m.test(text)
      );
    });
    expect(careless.map(({ path }) => path)).toEqual([]);
  });

  it('would be found out', () => {
    using directory = temporaryDirectory();
    const wrong = join(directory.path, 'wrong.sh');
    spawnSync('sh', ['-c', `printf '#!/bin/sh\\necho $1\\n' > ${wrong}`]);
    expect(run('shellcheck', [wrong]).stdout).toContain('SC2086');
    spawnSync('sh', ['-c', `printf '#!/bin/sh\\nif true\\n' > ${wrong}`]);
    expect(run('dash', ['-n', wrong]).status).not.toBe(0);
  });
});

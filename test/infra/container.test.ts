// Whether the recipe of the image promises what the manifests and the pages rely on; the image itself is tested in test/packages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { architectures, pathsOf, planOf } from '../../scripts/package/artefacts.ts';
import { codeBlocks } from '../support/markdown.ts';
import { projectRoot } from '../support/source-files.ts';
import { buildKustomization } from './kustomization.ts';

const folder = join(projectRoot, 'infra/container');
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');

/** The instructions of the recipe, one each, without their comments. */
const instructions = textOf('Containerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => /^(\w+) (.*)$/.exec(line)?.slice(1) ?? [line])
  .map(([name = '', words = '']) => ({ name, words }));
const valuesOf = (wanted: string): string[] =>
  instructions.filter(({ name }) => name === wanted).map(({ words }) => words);

it('starts from nothing, fetches nothing and runs nothing, so that every builder can build it for every machine', () => {
  expect(valuesOf('FROM')).toEqual(['scratch']);
  const allowed = ['FROM', 'ARG', 'COPY', 'LABEL', 'USER', 'WORKDIR', 'ENV', 'STOPSIGNAL', 'ENTRYPOINT'];
  expect(instructions.filter(({ name }) => !allowed.includes(name))).toEqual([]);
  expect(valuesOf('ENTRYPOINT')).toEqual(['["/seb"]']);
});

it('runs as the user that the manifests, the names in the image and the owner of the volume speak of', () => {
  const [user = ''] = valuesOf('USER');
  expect(user).toMatch(/^([1-9]\d+):\1$/);
  const [id = ''] = user.split(':');
  expect(textOf('prepare-context.sh')).toContain(`\nuser=${id}\n`);
  expect(valuesOf('COPY').filter((words) => words.startsWith('--chown'))).toEqual([
    `--chown=${user} state/ ${valuesOf('WORKDIR')[0]}/`,
    `--chown=${user} guarded/ /`,
  ]);
  const pods = ['agent', 'consumer']
    .flatMap((name) => buildKustomization(join(projectRoot, 'infra/kubernetes/example', name)))
    .flatMap(({ spec }) => (spec as { template?: { spec: { securityContext: object } } })?.template ?? []);
  expect(pods).toHaveLength(2);
  for (const { spec } of pods) {
    const same = { runAsUser: Number(id), runAsGroup: Number(id), fsGroup: Number(id) };
    expect(spec.securityContext).toMatchObject(same);
  }
});

it('puts aside for a moment what it must where it may write', () => {
  expect(valuesOf('ENV')).toEqual([`TMPDIR=${valuesOf('WORKDIR')[0]}`]);
});

it('has a page that calls the archives as they are called', () => {
  const named = codeBlocks('infra/container/README.md', 'sh').flatMap(({ text }) =>
    [...text.matchAll(/oci-archive:build\/(\S+)/g)].map(([, name]) => name),
  );
  const built = architectures.map(
    (architecture) => pathsOf(planOf({ architecture, outDirectory: '' })).image,
  );
  expect(named).toEqual(built);
});

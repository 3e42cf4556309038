// Whether the checks of the Bicep files see anything: each fault is planted in a copy, and must be reported.
import { describe, expect, it } from 'vitest';
import { allFaults } from './support/faults.ts';
import { propertyOf } from './support/grammar.ts';
import { plantedConventions, plantedHardening } from './support/planted-breaches.ts';
import { plantedParameters, plantedWiring } from './support/planted-wiring.ts';
import { declarationsIn, mainPath, readProject } from './support/project.ts';
import { wiringFaults } from './support/wiring.ts';

const project = readProject();
const planted = [...plantedWiring, ...plantedParameters, ...plantedConventions, ...plantedHardening];

describe('a planted fault', () => {
  it.each(planted)('is found: %s', (_, path, from, to, says) => {
    const text = project.get(path) ?? '';
    expect(text, 'the words to change stand in the file').toContain(from);
    const found = allFaults(new Map([...project, [path, text.replace(from, () => to)]]));
    expect(found).toContainEqual(expect.stringMatching(says));
  });

  it('is found in each parameter of each module', () => {
    const text = project.get(mainPath) ?? '';
    const given = declarationsIn(project, mainPath).modules.flatMap(({ name, value }) =>
      (propertyOf(value, 'params')?.namedChildren ?? []).flatMap((property) => {
        const [key] = property.namedChildren;
        return property.type === 'object_property' && key !== undefined ? [{ module: name, key }] : [];
      }),
    );
    const renamed = given.reduceRight(
      (changed, { key }) => `${changed.slice(0, key.endIndex)}Wrong${changed.slice(key.endIndex)}`,
      text,
    );
    const found = wiringFaults(new Map([...project, [mainPath, renamed]])).map(({ says }) => says);
    expect(given.length).toBeGreaterThan(80);
    const unseen = given.filter(
      ({ module, key }) =>
        !found.some(
          (says) => says.startsWith(`${module}: `) && says.endsWith(` has no parameter ${key.text}Wrong`),
        ),
    );
    expect(unseen.map(({ module, key }) => `${module}.${key.text}`)).toEqual([]);
  });
});

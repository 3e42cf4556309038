// One requirement of a resource in Bicep, and whether the text meets it.
import { at, bodyOf, Unknown, type Value } from './evaluate.ts';
import { lineOf } from './grammar.ts';
import { declared, type Fault, type Project } from './project.ts';

/** A place in a resource, and what must stand there. */
export interface Requirement {
  readonly path: string;
  readonly resource: string;
  readonly given?: Readonly<Record<string, Value>>;
  readonly facts: Readonly<Record<string, Value>>;
}

export const moduleNamed = (name: string): string => `bicep/modules/${name}.bicep`;

/** Each fact that the text does not give. */
export function requirementFaults(
  project: Project,
  { path, resource, given = {}, facts }: Requirement,
): Fault[] {
  const declaration = declared(project, path, resource);
  if (declaration === undefined) return [{ path, line: 1, says: `there is no ${resource}` }];
  const body = bodyOf(project, path, resource, given);
  return Object.entries(facts).flatMap(([place, wanted]) => {
    const found = at(body, ...place.split('.'));
    if (written(found) === written(wanted)) return [];
    const says = `${resource}: ${place} is ${written(found)}, not ${written(wanted)}`;
    return [{ path, line: lineOf(declaration.node), says }];
  });
}

const written = (value: Value): string =>
  JSON.stringify(value, (_, part) => (part instanceof Unknown ? String(part) : part));

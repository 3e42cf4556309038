// Whether the example parameter files fit the template that they name.
import { posix } from 'node:path';
import { lineOf, plainString } from './grammar.ts';
import { declarationsIn, type Fault, type Project, parameterFilesOf, rootIn } from './project.ts';
import { valueFaults } from './values.ts';
import { isRequired } from './wiring.ts';

/** Every fault of the parameter files. */
export const parameterFileFaults = (project: Project): Fault[] =>
  parameterFilesOf(project).flatMap((path) => {
    const template = templateOf(project, path);
    if (template === undefined) return [{ path, line: 1, says: 'uses no template that there is' }];
    const params = declarationsIn(project, template).params;
    const given = declarationsIn(project, path).variables;
    const missing = params.filter(
      (param) => isRequired(param) && !given.some(({ name }) => name === param.name),
    );
    return [
      ...missing.map(({ name }) => ({ path, line: 1, says: `${name} is missing` })),
      ...given.flatMap(({ name, node }) => {
        const param = params.find((each) => each.name === name);
        const says =
          param === undefined
            ? [`${template} has no parameter ${name}`]
            : valueFaults(param, node.namedChildren.at(-1));
        return says.map((each) => ({ path, line: lineOf(node), says: each }));
      }),
    ];
  });

function templateOf(project: Project, path: string): string | undefined {
  const using = rootIn(project, path).namedChildren.find(({ type }) => type === 'using_statement');
  const written = plainString(using?.namedChildren[0]);
  const template = written === undefined ? undefined : posix.join(posix.dirname(path), written);
  return template !== undefined && project.has(template) ? template : undefined;
}

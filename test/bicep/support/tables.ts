// The tables of bicep/README.md, as the template makes them.
import { plainString } from './grammar.ts';
import { type Declaration, declarationsIn, decoratorOf, mainPath, type Project } from './project.ts';
import { typeOf } from './values.ts';

const says = (declaration: Declaration): string =>
  (plainString(decoratorOf(declaration, 'description')?.[0]) ?? '').replaceAll('|', '\\|');

/** A row for each parameter: name, default, what it says. */
export const parameterRows = (project: Project): string[] =>
  declarationsIn(project, mainPath).params.map(
    (param) => `| \`${param.name}\` | ${defaultOf(param)} | ${says(param)} |`,
  );

function defaultOf(param: Declaration): string {
  const value = param.node.namedChildren.at(-1);
  if (value?.type === 'type')
    return decoratorOf(param, 'secure') === undefined ? 'must be given' : 'a secret';
  const text = plainString(value) ?? value?.text ?? '';
  if (text === '' || text === '[]') return 'none';
  return typeOf(param) === 'object' ? 'see there' : `\`${text}\``;
}

/** The beginning of a row for each output: name and what it says; what it is needed for stands behind. */
export const outputRows = (project: Project): string[] =>
  declarationsIn(project, mainPath).outputs.map((output) => `| \`${output.name}\` | ${says(output)} |`);

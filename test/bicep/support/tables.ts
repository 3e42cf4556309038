// The tables of bicep/README.md, as the templates make them.
import { at, bodyOf, type Value } from './evaluate.ts';
import { plainString } from './grammar.ts';
import { type Declaration, declarationsIn, decoratorOf, type Project } from './project.ts';
import { typeOf } from './values.ts';

const says = (declaration: Declaration): string =>
  (plainString(decoratorOf(declaration, 'description')?.[0]) ?? '').replaceAll('|', '\\|');

/** A row for each parameter: name, default, what it says. */
export const parameterRows = (project: Project, path: string): string[] =>
  declarationsIn(project, path).params.map(
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
export const outputRows = (project: Project, path: string): string[] =>
  declarationsIn(project, path).outputs.map((output) => `| \`${output.name}\` | ${says(output)} |`);

/** A row for each alert rule that there can be: name without prefix, and what it says. */
export function alertRows(project: Project): string[] {
  const given = { prefix: 'seb', withCapture: true, consumerResourceId: '/app' };
  const metrics = bodyOf(project, 'bicep/modules/alerts.bicep', 'metricRules', given);
  const rules = [
    ...(Array.isArray(metrics) ? metrics : []),
    bodyOf(project, 'bicep/modules/alerts.bicep', 'consumerBehind', given),
    bodyOf(project, 'bicep/modules/audit-watch.bicep', 'protectionChanged', given),
  ];
  return rules.map(
    (rule: Value) =>
      `| \`${String(at(rule, 'name')).replace(/^seb-/, '')}\` | ${String(at(rule, 'properties', 'description'))} |`,
  );
}

// What every file keeps to: descriptions, secrets, tags, one version of each API, roles by their right id.
import type { Node } from 'web-tree-sitter';
import { apiVersionOf, roleVariables } from './azure-facts.ts';
import { innermost, lineOf, plainString, propertyOf } from './grammar.ts';
import {
  type Declaration,
  declarationsIn,
  decoratorOf,
  type Fault,
  type Project,
  referenceOf,
  remembered,
  rootIn,
  templatesOf,
} from './project.ts';
import { typeOf, valueFaults } from './values.ts';

/** Every breach of the conventions. */
export const conventionFaults = (project: Project): Fault[] =>
  templatesOf(project).flatMap((path) => faultsIn(project, path));

const faultsIn = remembered((project, path) => [
  ...descriptionFaults(project, path),
  ...defaultFaults(project, path),
  ...secretFaults(project, path),
  ...resourceFaults(project, path),
  ...roleFaults(project, path),
  ...addressFaults(project, path),
]);

const at = (path: string, { node }: Declaration) => ({ path, line: lineOf(node) });

function descriptionFaults(project: Project, path: string): Fault[] {
  const { params, outputs } = declarationsIn(project, path);
  return [...params, ...outputs].flatMap((each) => {
    const says = plainString(decoratorOf(each, 'description')?.[0]) ?? '';
    return /^\p{Lu}[\s\S]+\.$|^\d.*\.$/u.test(says)
      ? []
      : [{ ...at(path, each), says: `${each.name} is not described in a sentence` }];
  });
}

function defaultFaults(project: Project, path: string): Fault[] {
  return declarationsIn(project, path).params.flatMap((param) => {
    const value = param.node.namedChildren.at(-1);
    if (value?.type === 'type') return [];
    return valueFaults(param, value).map((says) => ({ ...at(path, param), says }));
  });
}

const secretName = /(?:password|secret|token|key|url|uri|connectionstring|credentials?)$/i;
const listCall = /\blist(?:Keys|CallbackUrl|Secrets|AccountSas|ServiceSas|[A-Z]\w*)?\s*\(/;

/** Secrets come in marked as such, and never go out. */
function secretFaults(project: Project, path: string): Fault[] {
  const { params, outputs } = declarationsIn(project, path);
  const secrets = params.filter((param) => decoratorOf(param, 'secure') !== undefined);
  const open = params.filter(
    (param) => secretName.test(param.name) && typeOf(param) === 'string' && !secrets.includes(param),
  );
  const lists = rootIn(project, path)
    .descendantsOfType(['call_expression', 'array'])
    .filter(({ text, type }) => type === 'call_expression' && listCall.test(text.slice(0, 40)));
  return [
    ...open.map((param) => ({ ...at(path, param), says: `${param.name} must be @secure()` })),
    ...secrets
      .filter(({ node }) => (plainString(node.namedChildren.at(-1)) ?? '') !== '')
      .map((param) => ({ ...at(path, param), says: `${param.name} has a default, and is a secret` })),
    ...outputs
      .filter(({ node }) => secrets.some(({ name }) => new RegExp(`\\b${name}\\b`).test(node.text)))
      .map((output) => ({ ...at(path, output), says: `${output.name} hands out a secret` })),
    ...lists.map((node) => ({ path, line: lineOf(node), says: 'asks Azure for a key' })),
    ...[...(project.get(path) ?? '').matchAll(/\.list[A-Z]\w*\(/g)].map(({ index }) => ({
      path,
      line: (project.get(path) ?? '').slice(0, index).split('\n').length,
      says: 'asks Azure for a key',
    })),
  ];
}

function resourceFaults(project: Project, path: string): Fault[] {
  return declarationsIn(project, path).resources.flatMap((resource) => {
    const [type = '', version] = referenceOf(resource).split('@');
    const wanted = apiVersionOf(type);
    const body = innermost(resource.value);
    const isUntagged =
      propertyOf(body, 'location') !== undefined && propertyOf(body, 'tags')?.text !== 'tags';
    return [
      ...(version === wanted
        ? []
        : [{ ...at(path, resource), says: `${type} in version ${version}, not ${wanted}` }]),
      ...(isUntagged && !untaggable.test(type)
        ? [{ ...at(path, resource), says: `${resource.name} has no tags` }]
        : []),
    ];
  });
}

/** Have a place, and cannot have tags. */
const untaggable = /^Microsoft\.Authorization\//;

const guid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;

/** A GUID in a template is the id of a role, in a variable of that role's name. */
function roleFaults(project: Project, path: string): Fault[] {
  const { variables } = declarationsIn(project, path);
  const named = variables.flatMap(({ name, node }) =>
    /RoleId$/.test(name) ? [[plainString(node.namedChildren.at(-1)), name, node] as const] : [],
  );
  const known = new Set(named.map(([id]) => id));
  const text = project.get(path) ?? '';
  return [
    ...named
      .filter(([id, name]) => roleVariables[id ?? ''] !== name)
      .map(([id, name, node]) => ({ path, line: lineOf(node), says: `${id} is not the role of ${name}` })),
    ...[...text.matchAll(guid)]
      .filter(([id]) => !known.has(id))
      .map(({ 0: id, index }) => ({
        path,
        line: text.slice(0, index).split('\n').length,
        says: `what is ${id}?`,
      })),
  ];
}

/** Host names that differ from cloud to cloud and that `environment()` or a resource knows. */
const cloudHosts =
  /\b(?:core\.windows\.net|servicebus\.windows\.net|azurecr\.io|management\.azure\.com|login\.microsoftonline\.com|database\.azure\.com|vault\.azure\.net)\b/;

function addressFaults(project: Project, path: string): Fault[] {
  return rootIn(project, path)
    .descendantsOfType('string_content')
    .filter((node) => cloudHosts.test(node.text) && !isDescription(node))
    .map((node) => ({ path, line: lineOf(node), says: `${node.text} is only the public cloud's` }));
}

function isDescription(node: Node): boolean {
  for (let parent = node.parent; parent !== null; parent = parent.parent) {
    if (parent.type === 'decorator') return true;
  }
  return false;
}

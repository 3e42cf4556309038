// What resources of some types must say for themselves, wherever they stand, and which of them may never be off.
import { lineOf, nodesIn, propertyName, propertyOf } from './grammar.ts';
import {
  type Declaration,
  declarationsIn,
  type Fault,
  type Project,
  referenceOf,
  remembered,
  templatesOf,
} from './project.ts';

/** By the beginning of the type: places that must not be empty. */
const needed: readonly (readonly [type: string, places: readonly string[]])[] = [
  ['Microsoft.', ['name']],
  [
    'Microsoft.Authorization/roleAssignments',
    [
      'properties.principalId',
      'properties.principalType',
      'properties.roleDefinitionId',
      'properties.description',
    ],
  ],
  ['Microsoft.Insights/diagnosticSettings', ['scope', 'properties.workspaceId', 'properties.metrics']],
  [
    'Microsoft.Insights/scheduledQueryRules',
    ['location', 'properties.scopes', 'properties.actions.actionGroups'],
  ],
  [
    'Microsoft.Insights/activityLogAlerts',
    ['location', 'properties.scopes', 'properties.actions.actionGroups'],
  ],
  ['Microsoft.Network/privateEndpoints', ['properties']],
];

/** What watches must be on. */
const watching =
  /^Microsoft\.Insights\/(?:diagnosticSettings|metricAlerts|scheduledQueryRules|activityLogAlerts|actionGroups)@/;

/** Senders given by whoever deploys may be groups: only Azure knows what they are. */
const unknownPrincipals = ['othersSend'];

/** Every resource that does not say what its type must. */
export const completenessFaults = (project: Project): Fault[] =>
  templatesOf(project).flatMap((path) => faultsIn(project, path));

const faultsIn = remembered((project, path) =>
  declarationsIn(project, path).resources.flatMap((resource) => [
    ...missing(path, resource),
    ...switchedOff(path, resource),
  ]),
);

function missing(path: string, resource: Declaration): Fault[] {
  const type = referenceOf(resource);
  const places = needed.flatMap(([begin, all]) => (type.startsWith(begin) ? all : []));
  return places
    .filter((place) => !(place.endsWith('principalType') && unknownPrincipals.includes(resource.name)))
    .filter((place) => place.split('.').reduce(propertyOf, resource.value) === undefined)
    .map((place) => ({ path, line: lineOf(resource.node), says: `${resource.name} has no ${place}` }));
}

function switchedOff(path: string, resource: Declaration): Fault[] {
  if (!watching.test(referenceOf(resource))) return [];
  return [...nodesIn(resource.node)]
    .filter((node) => node.type === 'object_property' && propertyName(node) === 'enabled')
    .filter((node) => node.namedChildren.at(-1)?.text !== 'true')
    .map((node) => ({ path, line: lineOf(node), says: `${resource.name} is off` }));
}

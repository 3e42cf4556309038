// What must hold of the core's resources, whatever else changes, and the names that they get.
import { coreRequirements } from './core-requirements.ts';
import { at, bodyOf, evaluate, scopeOf } from './evaluate.ts';
import { lineOf, propertyOf } from './grammar.ts';
import { declarationsIn, declared, type Fault, mainPath, type Project, referenceOf } from './project.ts';
import { moduleNamed, requirementFaults } from './requirement.ts';

/** Every requirement that the text does not meet. */
export const hardeningFaults = (project: Project): Fault[] => [
  ...coreRequirements.flatMap((each) => requirementFaults(project, each)),
  ...conditionFaults(project),
  ...scopeFaults(project),
];

/** Under which condition something is deployed, word for word. */
const conditions: readonly (readonly [path: string, name: string, condition: string])[] = [
  [moduleNamed('storage-audit'), 'retention', '(!policyLocked)'],
  [moduleNamed('storage-audit'), 'accountLock', '(protectAccount)'],
  [mainPath, 'captureRole', '(enableCapture)'],
  [mainPath, 'consumer', '(deploysConsumer)'],
  [mainPath, 'auditAppendRole', "(auditWriteAccess == 'append')"],
  [mainPath, 'auditContributorRole', "(auditWriteAccess == 'contributor')"],
];

function conditionFaults(project: Project): Fault[] {
  return conditions.flatMap(([path, name, wanted]) => {
    const node = declared(project, path, name)?.node;
    const found = node?.namedChildren.at(-1)?.namedChildren[0]?.text;
    if (found === wanted) return [];
    return [
      {
        path,
        line: node === undefined ? 1 : lineOf(node),
        says: `${name} is deployed if ${found}, not ${wanted}`,
      },
    ];
  });
}

/** Roles stand on the hub, a container, a rule, a registry or a key: never on something larger. */
const roleScopes: Readonly<Record<string, string>> = {
  'hub-roles': 'hub',
  'container-role': 'container',
  logs: 'rule',
  'registry-role': 'registry',
  'vault-role': 'keys[index]',
};

function scopeFaults(project: Project): Fault[] {
  return Object.entries(roleScopes).flatMap(([file, wanted]) => {
    const path = moduleNamed(file);
    return declarationsIn(project, path)
      .resources.filter((each) => referenceOf(each).startsWith('Microsoft.Authorization/roleAssignments'))
      .filter(({ value }) => propertyOf(value, 'scope')?.text !== wanted)
      .map(({ name, node }) => ({
        path,
        line: lineOf(node),
        says: `${name} stands on more than the ${wanted}`,
      }));
  });
}

/** Names that Azure limits, as the longest and the shortest prefix make them. */
export function resourceNames(project: Project, prefix: string): Readonly<Record<string, string>> {
  const scope = scopeOf(project, mainPath, { prefix, location: 'westeurope' });
  const nameIn = (module: string, parameter: string): string => {
    const params = propertyOf(declared(project, mainPath, module)?.value, 'params');
    const node = propertyOf(params, parameter);
    return node === undefined ? '' : String(evaluate(node, scope));
  };
  return {
    namespace: nameIn('eventHubs', 'namespaceName'),
    checkpoints: nameIn('checkpointStorage', 'accountName'),
    audit: nameIn('auditStorage', 'accountName'),
    postgres: nameIn('postgres', 'serverName'),
    app: String(at(bodyOf(project, moduleNamed('consumer'), 'app', { prefix }), 'name')),
  };
}

// What must hold of the core's resources, whatever else changes: the requirements, each by what the text really gives.
import { at, bodyOf, evaluate, scopeOf, type Value } from './evaluate.ts';
import { lineOf, propertyOf } from './grammar.ts';
import { declarationsIn, declared, type Fault, mainPath, type Project, referenceOf } from './project.ts';

/** A place in a resource, and what must stand there. */
interface Requirement {
  readonly file: string;
  readonly resource: string;
  readonly given?: Readonly<Record<string, Value>>;
  readonly facts: Readonly<Record<string, Value>>;
}

const storageAccount = {
  kind: 'StorageV2',
  'properties.allowBlobPublicAccess': false,
  'properties.allowCrossTenantReplication': false,
  'properties.allowSharedKeyAccess': false,
  'properties.defaultToOAuthAuthentication': true,
  'properties.isLocalUserEnabled': false,
  'properties.minimumTlsVersion': 'TLS1_2',
  'properties.supportsHttpsTrafficOnly': true,
};
const open = { allowPublicNetworkAccess: true, allowedIpRanges: [], allowedSubnetResourceIds: [] };
const closed = { ...open, allowPublicNetworkAccess: false };
const ranged = { ...open, allowedIpRanges: ['192.0.2.0/24'] };
const storageNetwork = (file: string): Requirement[] => [
  { file, resource: 'account', given: open, facts: { 'properties.networkAcls.defaultAction': 'Allow' } },
  { file, resource: 'account', given: ranged, facts: { 'properties.networkAcls.defaultAction': 'Deny' } },
  {
    file,
    resource: 'account',
    given: closed,
    facts: { 'properties.publicNetworkAccess': 'Disabled', 'properties.networkAcls.defaultAction': 'Deny' },
  },
];
const standard = { sku: 'Standard', capacity: 1, maximumThroughputUnits: 20, captureIdentityResourceId: '' };
const premium = { ...standard, sku: 'Premium' };
const capturing = { ...standard, captureIdentityResourceId: '/identity' };
const upperCase = { hubName: 'Scheduled-Events', consumerGroupName: 'Audit' };
const capture = 'properties.captureDescription';

const requirements: readonly Requirement[] = [
  { file: 'storage-checkpoints', resource: 'account', facts: storageAccount },
  { file: 'storage-audit', resource: 'account', facts: storageAccount },
  ...storageNetwork('storage-checkpoints'),
  ...storageNetwork('storage-audit'),
  {
    file: 'storage-checkpoints',
    resource: 'blobService',
    facts: {
      'properties.isVersioningEnabled': false,
      'properties.deleteRetentionPolicy.enabled': false,
      'properties.containerDeleteRetentionPolicy.enabled': false,
    },
  },
  { file: 'storage-checkpoints', resource: 'container', facts: { 'properties.publicAccess': 'None' } },
  { file: 'storage-audit', resource: 'trail', facts: { 'properties.publicAccess': 'None' } },
  { file: 'storage-audit', resource: 'capture', facts: { 'properties.publicAccess': 'None' } },
  {
    file: 'storage-audit',
    resource: 'retention',
    given: { retentionDays: 7 },
    facts: {
      'properties.allowProtectedAppendWrites': true,
      'properties.allowProtectedAppendWritesAll': null,
      'properties.immutabilityPeriodSinceCreationInDays': 7,
    },
  },
  { file: 'storage-audit', resource: 'accountLock', facts: { 'properties.level': 'CanNotDelete' } },
  {
    file: 'event-hubs',
    resource: 'namespace',
    given: { ...standard, zoneRedundant: true, allowPublicNetworkAccess: false },
    facts: {
      'properties.disableLocalAuth': true,
      'properties.minimumTlsVersion': '1.2',
      'properties.kafkaEnabled': false,
      'properties.zoneRedundant': true,
      'properties.publicNetworkAccess': 'Disabled',
      'properties.isAutoInflateEnabled': true,
      'properties.maximumThroughputUnits': 20,
      identity: null,
    },
  },
  {
    file: 'event-hubs',
    resource: 'namespace',
    given: premium,
    facts: { 'properties.isAutoInflateEnabled': false, 'properties.maximumThroughputUnits': 0 },
  },
  {
    file: 'event-hubs',
    resource: 'namespace',
    given: capturing,
    facts: { 'identity.type': 'UserAssigned', 'identity.userAssignedIdentities': { '/identity': {} } },
  },
  {
    file: 'event-hubs',
    resource: 'networkRules',
    given: open,
    facts: { 'properties.trustedServiceAccessEnabled': true, 'properties.defaultAction': 'Allow' },
  },
  {
    file: 'event-hubs',
    resource: 'networkRules',
    given: ranged,
    facts: { 'properties.defaultAction': 'Deny' },
  },
  {
    file: 'event-hubs',
    resource: 'networkRules',
    given: closed,
    facts: { 'properties.defaultAction': 'Deny' },
  },
  {
    file: 'event-hubs',
    resource: 'hub',
    given: { ...standard, ...upperCase, retentionHours: 2000 },
    facts: {
      name: 'scheduled-events',
      'properties.retentionDescription.cleanupPolicy': 'Delete',
      'properties.retentionDescription.retentionTimeInHours': 168,
      [capture]: null,
    },
  },
  {
    file: 'event-hubs',
    resource: 'hub',
    given: { ...premium, retentionHours: 2000 },
    facts: { 'properties.retentionDescription.retentionTimeInHours': 2000 },
  },
  {
    file: 'event-hubs',
    resource: 'hub',
    given: capturing,
    facts: {
      [`${capture}.enabled`]: true,
      [`${capture}.skipEmptyArchives`]: true,
      [`${capture}.destination.name`]: 'EventHubArchive.AzureBlockBlob',
      [`${capture}.destination.identity`]: { type: 'UserAssigned', userAssignedIdentity: '/identity' },
    },
  },
  { file: 'event-hubs', resource: 'consumerGroup', given: upperCase, facts: { name: 'audit' } },
  {
    file: 'append-role',
    resource: 'role',
    facts: {
      'properties.permissions.0.actions': [],
      'properties.permissions.0.dataActions': [
        'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read',
        'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/add/action',
      ],
    },
  },
  {
    file: 'logs',
    resource: 'rule',
    facts: { kind: 'Direct', 'properties.dataCollectionEndpointId': null },
  },
  { file: 'logs', resource: 'workspace', facts: { 'properties.features.disableLocalAuth': true } },
  {
    file: 'postgres',
    resource: 'server',
    given: { allowPublicNetworkAccess: false },
    facts: {
      'properties.authConfig.passwordAuth': 'Disabled',
      'properties.authConfig.activeDirectoryAuth': 'Enabled',
      'properties.administratorLoginPassword': null,
      'properties.network.publicNetworkAccess': 'Disabled',
    },
  },
  {
    file: 'consumer',
    resource: 'managedEnvironment',
    facts: { 'properties.appLogsConfiguration': { destination: 'azure-monitor' } },
  },
  {
    file: 'consumer',
    resource: 'app',
    given: { maxReplicas: 1 },
    facts: {
      'properties.configuration.activeRevisionsMode': 'Single',
      'properties.configuration.ingress': null,
      'properties.template.terminationGracePeriodSeconds': 60,
      'properties.template.scale': { minReplicas: 1, maxReplicas: 1, rules: [] },
      'properties.template.containers.0.probes.0.type': 'Liveness',
      'properties.template.containers.0.probes.0.httpGet': { path: '/healthz', port: 9465 },
      'properties.template.containers.0.probes.1.type': 'Readiness',
      'properties.template.containers.0.probes.1.httpGet': { path: '/readyz', port: 9465 },
    },
  },
  {
    file: 'consumer',
    resource: 'app',
    given: {
      maxReplicas: 4,
      identityResourceId: '/identity',
      eventHubNamespaceName: 'ns',
      eventHubName: 'hub',
      consumerGroupName: 'audit',
      checkpointStorageAccountName: 'account',
      checkpointContainerName: 'checkpoints',
    },
    facts: {
      'properties.template.scale.minReplicas': 1,
      'properties.template.scale.maxReplicas': 4,
      'properties.template.scale.rules.0.custom.type': 'azure-eventhub',
      'properties.template.scale.rules.0.custom.identity': '/identity',
      'properties.template.scale.rules.0.custom.metadata.eventHubNamespace': 'ns',
      'properties.template.scale.rules.0.custom.metadata.eventHubName': 'hub',
      'properties.template.scale.rules.0.custom.metadata.consumerGroup': 'audit',
      'properties.template.scale.rules.0.custom.metadata.storageAccountName': 'account',
      'properties.template.scale.rules.0.custom.metadata.blobContainer': 'checkpoints',
      'properties.template.scale.rules.0.custom.metadata.checkpointStrategy': 'blobMetadata',
      'properties.template.scale.rules.0.custom.metadata.unprocessedEventThreshold': '64',
    },
  },
];

/** Every requirement that the text does not meet. */
export const hardeningFaults = (project: Project): Fault[] => [
  ...requirements.flatMap((each) => requirementFaults(project, each)),
  ...conditionFaults(project),
  ...scopeFaults(project),
];

function requirementFaults(project: Project, { file, resource, given = {}, facts }: Requirement): Fault[] {
  const path = `bicep/modules/${file}.bicep`;
  const declaration = declared(project, path, resource);
  if (declaration === undefined) return [{ path, line: 1, says: `there is no ${resource}` }];
  const body = bodyOf(project, path, resource, given);
  return Object.entries(facts).flatMap(([place, wanted]) => {
    const found = at(body, ...place.split('.'));
    if (JSON.stringify(found) === JSON.stringify(wanted)) return [];
    const says = `${resource}: ${place} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`;
    return [{ path, line: lineOf(declaration.node), says }];
  });
}

/** Under which condition something is deployed, word for word. */
const conditions: readonly (readonly [path: string, name: string, condition: string])[] = [
  ['bicep/modules/storage-audit.bicep', 'retention', '(!policyLocked)'],
  ['bicep/modules/storage-audit.bicep', 'accountLock', '(protectAccount)'],
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

/** Roles stand on the hub, a container, a rule or a registry: never on something larger. */
const roleScopes: Readonly<Record<string, string>> = {
  'hub-roles': 'hub',
  'container-role': 'container',
  logs: 'rule',
  'registry-role': 'registry',
};

function scopeFaults(project: Project): Fault[] {
  return Object.entries(roleScopes).flatMap(([file, wanted]) => {
    const path = `bicep/modules/${file}.bicep`;
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
    app: String(at(bodyOf(project, 'bicep/modules/consumer.bicep', 'app', { prefix }), 'name')),
  };
}

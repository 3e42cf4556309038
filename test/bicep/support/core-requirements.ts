// What must hold of hub, storage, identities, consumer, logs and database, each by what the text really gives.
import { moduleNamed, type Requirement } from './requirement.ts';

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
const storageNetwork = (name: string): Requirement[] => [
  {
    path: moduleNamed(name),
    resource: 'account',
    given: open,
    facts: { 'properties.networkAcls.defaultAction': 'Allow' },
  },
  {
    path: moduleNamed(name),
    resource: 'account',
    given: ranged,
    facts: { 'properties.networkAcls.defaultAction': 'Deny' },
  },
  {
    path: moduleNamed(name),
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

/** The requirements of the resources that main.bicep makes. */
export const coreRequirements: readonly Requirement[] = [
  { path: moduleNamed('storage-checkpoints'), resource: 'account', facts: storageAccount },
  { path: moduleNamed('storage-audit'), resource: 'account', facts: storageAccount },
  ...storageNetwork('storage-checkpoints'),
  ...storageNetwork('storage-audit'),
  {
    path: moduleNamed('storage-checkpoints'),
    resource: 'blobService',
    facts: {
      'properties.isVersioningEnabled': false,
      'properties.deleteRetentionPolicy.enabled': false,
      'properties.containerDeleteRetentionPolicy.enabled': false,
    },
  },
  {
    path: moduleNamed('storage-checkpoints'),
    resource: 'container',
    facts: { 'properties.publicAccess': 'None' },
  },
  { path: moduleNamed('storage-audit'), resource: 'trail', facts: { 'properties.publicAccess': 'None' } },
  { path: moduleNamed('storage-audit'), resource: 'capture', facts: { 'properties.publicAccess': 'None' } },
  {
    path: moduleNamed('storage-audit'),
    resource: 'retention',
    given: { retentionDays: 7 },
    facts: {
      'properties.allowProtectedAppendWrites': true,
      'properties.allowProtectedAppendWritesAll': null,
      'properties.immutabilityPeriodSinceCreationInDays': 7,
    },
  },
  {
    path: moduleNamed('storage-audit'),
    resource: 'accountLock',
    facts: { 'properties.level': 'CanNotDelete' },
  },
  {
    path: moduleNamed('event-hubs'),
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
    path: moduleNamed('event-hubs'),
    resource: 'namespace',
    given: premium,
    facts: { 'properties.isAutoInflateEnabled': false, 'properties.maximumThroughputUnits': 0 },
  },
  {
    path: moduleNamed('event-hubs'),
    resource: 'namespace',
    given: capturing,
    facts: { 'identity.type': 'UserAssigned', 'identity.userAssignedIdentities': { '/identity': {} } },
  },
  {
    path: moduleNamed('event-hubs'),
    resource: 'networkRules',
    given: open,
    facts: { 'properties.trustedServiceAccessEnabled': true, 'properties.defaultAction': 'Allow' },
  },
  {
    path: moduleNamed('event-hubs'),
    resource: 'networkRules',
    given: ranged,
    facts: { 'properties.defaultAction': 'Deny' },
  },
  {
    path: moduleNamed('event-hubs'),
    resource: 'networkRules',
    given: closed,
    facts: { 'properties.defaultAction': 'Deny' },
  },
  {
    path: moduleNamed('event-hubs'),
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
    path: moduleNamed('event-hubs'),
    resource: 'hub',
    given: { ...premium, retentionHours: 2000 },
    facts: { 'properties.retentionDescription.retentionTimeInHours': 2000 },
  },
  {
    path: moduleNamed('event-hubs'),
    resource: 'hub',
    given: capturing,
    facts: {
      [`${capture}.enabled`]: true,
      [`${capture}.skipEmptyArchives`]: true,
      [`${capture}.destination.name`]: 'EventHubArchive.AzureBlockBlob',
      [`${capture}.destination.identity`]: { type: 'UserAssigned', userAssignedIdentity: '/identity' },
    },
  },
  { path: moduleNamed('event-hubs'), resource: 'consumerGroup', given: upperCase, facts: { name: 'audit' } },
  {
    path: moduleNamed('append-role'),
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
    path: moduleNamed('logs'),
    resource: 'rule',
    facts: { kind: 'Direct', 'properties.dataCollectionEndpointId': null },
  },
  {
    path: moduleNamed('logs'),
    resource: 'workspace',
    facts: { 'properties.features.disableLocalAuth': true },
  },
  {
    path: moduleNamed('postgres'),
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
    path: moduleNamed('consumer'),
    resource: 'managedEnvironment',
    facts: { 'properties.appLogsConfiguration': { destination: 'azure-monitor' } },
  },
  {
    path: moduleNamed('consumer'),
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
    path: moduleNamed('consumer'),
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
  {
    path: moduleNamed('alerts'),
    resource: 'metricRules',
    given: { withCapture: false, consumerResourceId: '', namespaceResourceId: '/hub', silenceWindow: 'PT6H' },
    facts: {
      '3.properties.scopes': ['/hub'],
      '3.properties.windowSize': 'PT6H',
      '3.properties.evaluationFrequency': 'PT1H',
      '3.properties.autoMitigate': true,
      '3.properties.criteria.allOf.0.metricNamespace': 'Microsoft.EventHub/namespaces',
      '3.properties.criteria.allOf.0.metricName': 'IncomingMessages',
      '3.properties.criteria.allOf.0.timeAggregation': 'Total',
      '3.properties.criteria.allOf.0.operator': 'LessThan',
      '3.properties.criteria.allOf.0.threshold': 1,
    },
  },
  {
    path: moduleNamed('audit-watch'),
    resource: 'protectionChanged',
    given: { accountResourceId: '/account' },
    facts: {
      location: 'global',
      'properties.scopes': ['/account'],
      'properties.condition.allOf.0': { field: 'category', equals: 'Administrative' },
      'properties.condition.allOf.1': { field: 'status', equals: 'Succeeded' },
      'properties.condition.allOf.2.field': 'operationName',
    },
  },
  {
    path: moduleNamed('private-endpoints'),
    resource: 'links',
    given: { zoneNames: ['zone'], virtualNetworkResourceId: '/network' },
    facts: { '0.properties': { registrationEnabled: false, virtualNetwork: { id: '/network' } } },
  },
];

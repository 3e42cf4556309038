// What must hold of the hub and of the storage, each by what the text really gives.
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
const ranged = { ...open, allowedIpRanges: ['192.0.2.0/24', '198.51.100.7/32'] };
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
    facts: {
      'properties.networkAcls.defaultAction': 'Deny',
      'properties.networkAcls.ipRules.0.value': '192.0.2.0/24',
      // Storage refuses /31 and /32: learn.microsoft.com, "Guidelines and limitations of the storage firewall".
      'properties.networkAcls.ipRules.1.value': '198.51.100.7',
    },
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

/** The requirements of what holds events: their hub, their checkpoints and their trail. */
export const eventRequirements: readonly Requirement[] = [
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
  // As docs/audit.md names it.
  { path: moduleNamed('event-hubs'), resource: 'replayGroup', facts: { name: 'replay' } },
];

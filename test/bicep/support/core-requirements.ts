// What must hold of the resources that main.bicep makes, each by what the text really gives.
import { eventRequirements } from './event-requirements.ts';
import { moduleNamed, type Requirement } from './requirement.ts';

/** The requirements of the resources that main.bicep makes. */
export const coreRequirements: readonly Requirement[] = [
  ...eventRequirements,
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
    given: { minReplicas: 1, maxReplicas: 1 },
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
      minReplicas: 2,
      maxReplicas: 4,
      identityResourceId: '/identity',
      eventHubNamespaceName: 'ns',
      eventHubName: 'hub',
      consumerGroupName: 'audit',
      checkpointStorageAccountName: 'account',
      checkpointContainerName: 'checkpoints',
    },
    facts: {
      'properties.template.scale.minReplicas': 2,
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

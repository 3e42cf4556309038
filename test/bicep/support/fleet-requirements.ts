// What must hold of relay, scale set, VM application, install policy and previews, each by what the text really gives.
import type { Value } from './evaluate.ts';
import type { Fault, Project } from './project.ts';
import { moduleNamed, type Requirement, requirementFaults } from './requirement.ts';
import { scaleSetRequirements } from './scale-set-requirements.ts';

const caller = { callerPrincipalIds: ['one', 'two'], audience: 'https://example.org/' };
const [iss, aud] = ['https://sts.windows.net/<tenant().tenantId>/', 'https://example.org/'];
const policies = 'properties.accessControl.triggers.openAuthenticationPolicies.policies';
const noRanges = { allowedCallerIpRanges: [], runHistoryReaderIpRanges: [] };
const ranges = { allowedCallerIpRanges: ['192.0.2.0/24'], runHistoryReaderIpRanges: ['198.51.100.0/24'] };
const claimsOf = (oid: string): Value => [
  { name: 'iss', value: iss },
  { name: 'aud', value: aud },
  { name: 'oid', value: oid },
];

const again = {
  applicationPackageLink: '',
  existingApplicationVersionResourceId: '/version',
  subnetResourceId: '/subnet',
};

/** Whoever deploys a scale set again has no package at hand, and wants to keep what is installed. */
const deployedAgain: readonly Requirement[] = [
  {
    path: 'bicep/fleet.bicep',
    resource: 'scaleSet',
    given: again,
    facts: { 'params.applicationVersionResourceId': '/version' },
  },
];

const relay: readonly Requirement[] = [
  {
    path: moduleNamed('relay'),
    resource: 'workflow',
    given: {
      ...caller,
      ...noRanges,
      minimumSeverity: 'WARN',
      eventTypes: ['Reboot'],
      teamsWorkflowUrl: 'url',
    },
    facts: {
      'properties.accessControl.triggers.sasAuthenticationPolicy.state': 'Disabled',
      'properties.accessControl.triggers.allowedCallerIpAddresses': null,
      'properties.accessControl.contents': null,
      [`${policies}.caller-one.type`]: 'AAD',
      [`${policies}.caller-one.claims`]: claimsOf('one'),
      [`${policies}.caller-two.claims`]: claimsOf('two'),
      'properties.parameters.teamsWorkflowUrl.value': 'url',
      'properties.parameters.minimumSeverityNumber.value': 13,
      'properties.parameters.eventTypes.value': ['reboot'],
    },
  },
  {
    path: moduleNamed('relay'),
    resource: 'workflow',
    given: { ...caller, ...ranges, minimumSeverity: 'INFO' },
    facts: {
      'properties.accessControl.triggers.allowedCallerIpAddresses': [{ addressRange: '192.0.2.0/24' }],
      'properties.accessControl.triggers.sasAuthenticationPolicy.state': 'Disabled',
      'properties.accessControl.contents.allowedCallerIpAddresses': [{ addressRange: '198.51.100.0/24' }],
    },
  },
  {
    path: moduleNamed('relay'),
    resource: 'runsFailed',
    facts: {
      'properties.criteria.allOf.0.metricName': 'RunsFailed',
      'properties.criteria.allOf.0.threshold': 0,
      'properties.criteria.allOf.0.operator': 'GreaterThan',
    },
  },
];

const release = {
  location: 'a',
  replicationRegions: ['b', 'a'],
  replicasPerRegion: 2,
  configurationLink: '',
};
const access = { location: 'a', replicationRegions: [], otherExecutables: [], mode: 'Audit' };
const policy = {
  applicationVersionResourceId:
    '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/galleries/n/applications/app/versions/1.0.0',
};
const rule = 'properties.policyRule';
const counted = 'applicationProfile.galleryApplications[*]';
const contributor = '/providers/Microsoft.Authorization/roleDefinitions/9980e02c-c2be-4d73-94e8-173b1dc7cf3c';

const installation: readonly Requirement[] = [
  {
    path: moduleNamed('installer-role'),
    resource: 'writes',
    given: { principalId: 'identity', roleDefinitionGuid: 'role' },
    // With the identity in it: an assignment of a role cannot be given to another one.
    facts: { name: '<guid(subscription().id, principalId, roleDefinitionGuid)>' },
  },
  {
    path: moduleNamed('vm-application'),
    resource: 'application',
    facts: { name: 'scheduled-events-bridge', 'properties.supportedOSType': 'Linux' },
  },
  {
    path: moduleNamed('vm-application'),
    resource: 'release',
    given: release,
    facts: {
      'properties.publishingProfile.source.defaultConfigurationLink': null,
      'properties.publishingProfile.targetRegions': [
        { name: 'a', regionalReplicaCount: 2 },
        { name: 'b', regionalReplicaCount: 2 },
      ],
    },
  },
  {
    path: moduleNamed('imds-access-control'),
    resource: 'profile',
    facts: { 'properties.applicableHostEndpoint': 'IMDS', 'properties.osType': 'Linux' },
  },
  {
    path: moduleNamed('imds-access-control'),
    resource: 'rules',
    given: access,
    facts: {
      'properties.mode': 'Audit',
      // Whatever else the metadata service offers stays open.
      'properties.defaultAccess': 'Allow',
      'properties.rules.privileges': [{ name: 'scheduled-events', path: '/metadata/scheduledevents' }],
      'properties.rules.roles.0.privileges': ['scheduled-events'],
      'properties.rules.identities.0.exePath': '/usr/lib/scheduled-events-bridge/bin/seb',
      'properties.rules.identities.0.userName': null,
      'properties.rules.identities.1': null,
      'properties.rules.roleAssignments.0.role': 'reader-of-events',
    },
  },
  {
    path: moduleNamed('imds-access-control'),
    resource: 'rules',
    given: { ...access, otherExecutables: ['/usr/bin/python3.12'] },
    facts: {
      'properties.rules.identities.0.exePath': '/usr/lib/scheduled-events-bridge/bin/seb',
      'properties.rules.identities.1.exePath': '/usr/bin/python3.12',
    },
  },
  {
    path: 'bicep/install-policy.bicep',
    resource: 'onVms',
    facts: {
      [`${rule}.if.allOf.0.equals`]: 'Microsoft.Compute/virtualMachines',
      [`${rule}.if.allOf.1.equals`]: 'Linux',
      [`${rule}.if.allOf.2.field`]: "[concat('tags[', parameters('tagName'), ']')]",
      [`${rule}.if.allOf.2.equals`]: "[parameters('tagValue')]",
      [`${rule}.then.effect`]: "[parameters('effect')]",
      [`${rule}.then.details.name`]: "[field('name')]",
      [`${rule}.then.details.roleDefinitionIds`]: [contributor],
      [`${rule}.then.details.existenceCondition.count.field`]: `Microsoft.Compute/virtualMachines/${counted}`,
      [`${rule}.then.details.existenceCondition.count.where.field`]: `Microsoft.Compute/virtualMachines/${counted}.packageReferenceId`,
      [`${rule}.then.details.existenceCondition.count.where.equals`]: "[parameters('applicationVersionId')]",
      [`${rule}.then.details.existenceCondition.greater`]: 0,
      'properties.parameters.effect.defaultValue': 'AuditIfNotExists',
    },
  },
  {
    path: 'bicep/install-policy.bicep',
    resource: 'onScaleSets',
    facts: {
      [`${rule}.then.effect`]: 'auditIfNotExists',
      [`${rule}.then.details.deployment`]: null,
      [`${rule}.if.allOf.1.equals`]: "[parameters('tagValue')]",
    },
  },
  {
    path: 'bicep/install-policy.bicep',
    resource: 'installs',
    given: policy,
    facts: {
      'identity.type': 'SystemAssigned',
      'properties.parameters.effect.value': 'AuditIfNotExists',
      'properties.parameters.applicationVersionId.value': policy.applicationVersionResourceId,
    },
  },
  {
    path: 'bicep/install-policy.bicep',
    resource: 'installerReads',
    given: policy,
    facts: { 'params.galleryName': 'n' },
  },
];

const preview: readonly Requirement[] = [
  {
    path: moduleNamed('event-grid-preview'),
    resource: 'topic',
    facts: {
      location: 'global',
      'identity.type': 'SystemAssigned',
      'properties.topicType': 'microsoft.resourcenotifications.maintenanceresources',
    },
  },
  {
    path: moduleNamed('event-grid-preview'),
    resource: 'delivery',
    facts: {
      'properties.eventDeliverySchema': 'CloudEventSchemaV1_0',
      'properties.deliveryWithResourceIdentity.identity.type': 'SystemAssigned',
      'properties.deliveryWithResourceIdentity.destination.endpointType': 'EventHub',
      'properties.destination': null,
      'properties.filter.includedEventTypes': [
        'Microsoft.ResourceNotifications.MaintenanceResources.ScheduledEventEmitted',
      ],
    },
  },
  { path: moduleNamed('event-grid-preview'), resource: 'hub', facts: { name: 'scheduled-events-azure' } },
];

/** Every requirement that the text does not meet. */
export const fleetFaults = (project: Project): Fault[] =>
  [...relay, ...deployedAgain, ...scaleSetRequirements, ...installation, ...preview].flatMap((each) =>
    requirementFaults(project, each),
  );

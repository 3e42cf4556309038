// What must hold of relay, scale set, VM application, install policy and previews; and each requirement, broken once.
import { describe, expect, it } from 'vitest';
import { fleetFaults } from './support/fleet-requirements.ts';
import { readProject } from './support/project.ts';
import { moduleNamed } from './support/requirement.ts';

const project = readProject();

it('relay, scale set, installation and previews hold what is required of them', () => {
  expect(fleetFaults(project)).toEqual([]);
});

/** What is done, to which file, from which words to which, and what must be said of it. */
type Planted = readonly [what: string, path: string, from: string, to: string, says: RegExp];

const relay = moduleNamed('relay');
const scaleSet = moduleNamed('scale-set');
const network = moduleNamed('scale-set-network');
const application = moduleNamed('vm-application');
const access = moduleNamed('imds-access-control');
const preview = moduleNamed('event-grid-preview');
const policy = 'bicep/install-policy.bicep';

const planted: readonly Planted[] = [
  [
    'a signature lets anyone in',
    relay,
    "state: 'Disabled'\n",
    "state: 'Enabled'\n",
    /sasAuthenticationPolicy/,
  ],
  ['any identity of the tenant is let in', relay, "name: 'oid'", "name: 'tid'", /caller-one\.claims/],
  ['tokens of another issuer', relay, 'sts.windows.net', 'example.org', /caller-one\.claims/],
  ['tokens for somebody else', relay, 'environment().resourceManager : audience', "'x' : 'y'", /claims/],
  [
    'callers are not restricted',
    relay,
    'union(withoutSignatures, restrictedCallers,',
    'union(withoutSignatures,',
    /allowedCallerIpAddresses/,
  ],
  ['readers are not restricted', relay, '        restrictedReaders\n', '        {}\n', /contents/],
  [
    'an application that is lost with the next deployment',
    'bicep/fleet.bicep',
    '  : existingApplicationVersionResourceId',
    "  : ''",
    /scaleSet: params\.applicationVersionResourceId/,
  ],
  ['another severity', relay, 'WARN: 13', 'WARN: 17', /minimumSeverityNumber/],
  ['types as they were typed', relay, 'type => toLower(type)', 'type => type', /eventTypes/],
  ['an alert on something else', relay, "'RunsFailed'", "'RunsStarted'", /metricName/],
  ['no notice of a deletion', scaleSet, 'enable: !isSpot', 'enable: false', /terminateNotificationProfile/],
  [
    'a notice that Spot refuses',
    scaleSet,
    'enable: !isSpot',
    'enable: true',
    /terminateNotificationProfile\.enable is true/,
  ],
  [
    'another notice of a new image',
    scaleSet,
    "notBeforeTimeout: 'PT15M'",
    "notBeforeTimeout: 'PT5M'",
    /osImageNotificationProfile/,
  ],
  [
    'passwords',
    scaleSet,
    'disablePasswordAuthentication: true',
    'disablePasswordAuthentication: false',
    /disablePassword/,
  ],
  ['an untrusted start', scaleSet, 'secureBootEnabled: true', 'secureBootEnabled: false', /uefiSettings/],
  ['the agent’s identity left out', scaleSet, 'agentIdentityResourceId}', 'other}', /userAssignedIdentities/],
  ['custom data as it is', scaleSet, 'base64(cloudInit)', 'cloudInit', /customData/],
  [
    'profile and mode at once',
    scaleSet,
    'inVMAccessControlProfileReferenceId: imds',
    "mode: 'Audit'\n inVMAccessControlProfileReferenceId: imds",
    /proxyAgentSettings/,
  ],
  [
    'a failure that nobody sees',
    scaleSet,
    'treatFailureAsDeploymentFailure: true',
    'treatFailureAsDeploymentFailure: false',
    /treatFailure/,
  ],
  [
    'the preview without being asked for',
    scaleSet,
    'publishToEventGrid\n',
    'true\n',
    /AdditionalPublishingTargets/,
  ],
  ['a way in', network, "access: 'Deny'", "access: 'Allow'", /access/],
  [
    'a way out that Azure picks',
    network,
    'defaultOutboundAccess: false',
    'defaultOutboundAccess: true',
    /defaultOutboundAccess/,
  ],
  [
    'its own region left out',
    application,
    'union([location], replicationRegions)',
    'replicationRegions',
    /targetRegions/,
  ],
  [
    'an empty configuration link',
    application,
    'empty(configurationLink) ? null : configurationLink',
    'configurationLink',
    /defaultConfigurationLink/,
  ],
  ['everything closed', access, "defaultAccess: 'Allow'", "defaultAccess: 'Deny'", /defaultAccess/],
  ['another program', access, '/usr/lib/scheduled-events-bridge/bin/seb', '/usr/bin/seb', /exePath/],
  ['another path', access, "'/metadata/scheduledevents'", "'/metadata/instance'", /privileges/],
  [
    'the wrong endpoint',
    access,
    "applicableHostEndpoint: 'IMDS'",
    "applicableHostEndpoint: 'WireServer'",
    /applicableHostEndpoint/,
  ],
  [
    'VMs without the tag',
    policy,
    "equals: '[parameters(\\'tagValue\\')]'",
    'exists: true',
    /allOf\.2\.equals/,
  ],
  [
    'any version will do',
    policy,
    "packageReferenceId'\n                equals:",
    "packageReferenceId'\n                notEquals:",
    /where\.equals/,
  ],
  [
    'an installation without being asked for',
    policy,
    "param effect string = 'AuditIfNotExists'",
    "param effect string = 'DeployIfNotExists'",
    /effect\.value/,
  ],
  ['a policy without an identity', policy, "type: 'SystemAssigned'", "type: 'None'", /identity\.type/],
  ['another gallery', policy, 'versionIdParts[8]', 'versionIdParts[6]', /galleryName/],
  ['another topic', preview, 'maintenanceresources', 'healthresources', /topicType/],
  ['the agents’ hub', preview, "'scheduled-events-azure'", "'scheduled-events'", /hub: name/],
  [
    'delivery without an identity',
    preview,
    'deliveryWithResourceIdentity: {',
    'delivery: {',
    /deliveryWithResourceIdentity/,
  ],
];

describe('a fault is seen', () => {
  it.each(planted)('%s', (_, path, from, to, says) => {
    const text = project.get(path) ?? '';
    expect(text).toContain(from);
    const faults = fleetFaults(new Map([...project, [path, text.replace(from, to)]]));
    expect(faults.map((fault) => fault.says).join('\n')).toMatch(says);
  });
});

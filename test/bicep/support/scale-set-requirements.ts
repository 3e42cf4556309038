// What must hold of the scale set and its network.
import { moduleNamed, type Requirement } from './requirement.ts';

const profile = 'properties.virtualMachineProfile';
const regular = {
  priority: 'Regular',
  terminateNotice: 'PT10M',
  name: 'seb-fleet',
  agentIdentityResourceId: '/identity',
  adminUsername: 'fleet',
  sshPublicKeyData: 'ssh-ed25519 x',
  cloudInit: '#cloud-config',
  applicationVersionResourceId: '/version',
  imdsAccessControlVersionResourceId: '/profile',
  publishToEventGrid: false,
  approveUserActions: false,
  zones: [],
  image: { publisher: 'p', offer: 'o', sku: 's' },
};
const bare = {
  ...regular,
  cloudInit: '',
  applicationVersionResourceId: '',
  imdsAccessControlVersionResourceId: '',
};

export const scaleSetRequirements: readonly Requirement[] = [
  {
    path: moduleNamed('scale-set'),
    resource: 'scaleSet',
    given: regular,
    facts: {
      'identity.type': 'UserAssigned',
      'identity.userAssignedIdentities': { '/identity': {} },
      'properties.orchestrationMode': 'Flexible',
      'properties.upgradePolicy.mode': 'Rolling',
      'properties.scheduledEventsPolicy.userInitiatedReboot.automaticallyApprove': false,
      'properties.scheduledEventsPolicy.userInitiatedRedeploy.automaticallyApprove': false,
      'properties.scheduledEventsPolicy.scheduledEventsAdditionalPublishingTargets': null,
      [`${profile}.scheduledEventsProfile.terminateNotificationProfile`]: {
        enable: true,
        notBeforeTimeout: 'PT10M',
      },
      // Azure takes no other length for images.
      [`${profile}.scheduledEventsProfile.osImageNotificationProfile`]: {
        enable: true,
        notBeforeTimeout: 'PT15M',
      },
      [`${profile}.osProfile.linuxConfiguration.disablePasswordAuthentication`]: true,
      [`${profile}.osProfile.adminPassword`]: null,
      [`${profile}.osProfile.customData`]: Buffer.from('#cloud-config').toString('base64'),
      [`${profile}.securityProfile.securityType`]: 'TrustedLaunch',
      [`${profile}.securityProfile.uefiSettings`]: { secureBootEnabled: true, vTpmEnabled: true },
      // A profile and a mode exclude each other.
      [`${profile}.securityProfile.proxyAgentSettings.imds`]: {
        inVMAccessControlProfileReferenceId: '/profile',
      },
      [`${profile}.networkProfile.networkInterfaceConfigurations.0.properties.ipConfigurations.0.properties.publicIPAddressConfiguration`]:
        null,
      [`${profile}.applicationProfile.galleryApplications.0.packageReferenceId`]: '/version',
      [`${profile}.applicationProfile.galleryApplications.0.treatFailureAsDeploymentFailure`]: true,
      [`${profile}.extensionProfile.extensions.0.properties.settings`]: {
        protocol: 'http',
        port: 9464,
        requestPath: '/readyz',
      },
    },
  },
  {
    path: moduleNamed('scale-set'),
    resource: 'scaleSet',
    given: { ...bare, priority: 'Spot', publishToEventGrid: true },
    facts: {
      [`${profile}.scheduledEventsProfile.terminateNotificationProfile.enable`]: false,
      [`${profile}.evictionPolicy`]: 'Delete',
      [`${profile}.osProfile.customData`]: null,
      [`${profile}.applicationProfile`]: null,
      [`${profile}.securityProfile.proxyAgentSettings`]: null,
      'properties.scheduledEventsPolicy.scheduledEventsAdditionalPublishingTargets.eventGridAndResourceGraph.enable': true,
    },
  },
  {
    path: moduleNamed('scale-set-network'),
    resource: 'securityGroup',
    facts: {
      'properties.securityRules.0.properties.direction': 'Inbound',
      'properties.securityRules.0.properties.access': 'Deny',
      'properties.securityRules.0.properties.sourceAddressPrefix': '*',
      'properties.securityRules.1': null,
    },
  },
  {
    path: moduleNamed('scale-set-network'),
    resource: 'network',
    facts: { 'properties.subnets.0.properties.defaultOutboundAccess': false },
  },
];

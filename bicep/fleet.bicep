// What puts the agent on machines: a gallery with the VM application, who may ask for Scheduled Events, and a scale set to
// try it all out on. It goes into a resource group of its own, after main.bicep.
targetScope = 'resourceGroup'

// ---------------------------------------------------------------------------------------------------------------
// General

@description('Azure region of every resource.')
param location string = resourceGroup().location

@description('Start of every resource name: lower-case letters and digits, beginning with a letter.')
@minLength(2)
@maxLength(8)
param prefix string = 'seb'

@description('Tags of every resource. The scale set’s VMs get them, too; the tag of install-policy.bicep must not be among them when cloud-init installs the agent.')
param tags object = {
  application: 'scheduled-events-bridge'
}

@description('Output `agentIdentityResourceId` of main.bicep.')
@minLength(1)
param agentIdentityResourceId string

@description('Output `agentIdentityClientId` of main.bicep.')
@minLength(1)
param agentIdentityClientId string

// ---------------------------------------------------------------------------------------------------------------
// VM application

@description('Address of the blob with scheduled-events-bridge-VERSION-vmapp-linux.tar.gz, with a SAS unless it is public; empty: no VM application. It is needed only while a version is made.')
@secure()
param applicationPackageLink string = ''

@description('Address of the blob with the agent.yaml that VMs get by default, with a SAS unless it is public; empty: none.')
@secure()
param applicationConfigurationLink string = ''

@description('Version of the program that the package holds.')
@minLength(5)
param applicationVersion string = '1.0.0'

@description('Output `applicationVersionResourceId` of the deployment that made the version, for the scale set while there is no `applicationPackageLink`: with neither, the scale set loses the application again.')
param existingApplicationVersionResourceId string = ''

@description('Further regions with VMs of the fleet, spelled like the location.')
param replicationRegions string[] = []

@description('Copies of the package in each region.')
@minValue(1)
@maxValue(3)
param replicasPerRegion int = 1

@description('Whether VMs that ask for `latest` do not get this version.')
param excludeApplicationVersionFromLatest bool = true

// ---------------------------------------------------------------------------------------------------------------
// Who may ask for Scheduled Events (preview)

@description('PREVIEW: makes an access control profile for the metadata service, and gives it to the scale set.')
param enableImdsAccessControl bool = false

@description('Audit logs what the profile does not allow, Enforce refuses it: see modules/imds-access-control.bicep for what that breaks.')
@allowed([
  'Audit'
  'Enforce'
])
param imdsAccessMode string = 'Audit'

@description('Version of the profile: other rules or another mode need another one.')
@minLength(5)
param imdsAccessVersion string = '1.0.0'

@description('Programs that may ask for Scheduled Events beside the agent, by full path.')
param imdsAllowedExecutables string[] = []

// ---------------------------------------------------------------------------------------------------------------
// Scale set

@description('Makes the scale set.')
param enableScaleSet bool = true

@description('Number of instances.')
@minValue(0)
@maxValue(1000)
param instanceCount int = 2

@description('Size of the instances: not of the series G, M, N or H.')
param vmSize string = 'Standard_D2s_v5'

@description('Availability zones of the instances; none where the region has none.')
param zones string[] = []

@description('Image of the instances: generation 2, with cloud-init.')
param image {
  publisher: string
  offer: string
  sku: string
} = {
  publisher: 'Canonical'
  offer: 'ubuntu-24_04-lts'
  sku: 'server'
}

@description('Subnet of the instances, which needs a way out to Event Hubs, storage and the relay; empty: a network with a NAT gateway is made.')
param subnetResourceId string = ''

@description('Name of the administrator of the instances.')
@minLength(1)
param adminUsername string = 'fleet'

@description('Public SSH key of the administrator; needed for the scale set.')
param sshPublicKeyData string = ''

@description('Regular, or Spot, which is never told of its deletion.')
@allowed([
  'Regular'
  'Spot'
])
param priority string = 'Regular'

@description('How long Azure waits between the notice of a deletion and the deletion.')
@allowed([
  'PT5M'
  'PT10M'
  'PT15M'
])
param terminateNotice string = 'PT5M'

@description('Replaces OS disks when a new image is out, with notice; only for images that Azure supports this for.')
param enableAutomaticOsUpgrade bool = false

@description('Lets restarts and redeployments that a user asks for go ahead without an announcement.')
param approveUserActions bool = false

@description('PREVIEW: has Azure publish the scale set’s events to Event Grid and Resource Graph, too.')
param publishToEventGrid bool = false

@description('Encrypts caches and temporary disks on the host; the subscription must have the feature EncryptionAtHost.')
param encryptionAtHost bool = false

// ---------------------------------------------------------------------------------------------------------------
// Installation by cloud-init, where there is no VM application

@description('Https address of the folder with install.sh, SHA256SUMS and the packages, without a slash at the end; empty: no cloud-init.')
param packagePlace string = ''

@description('Version to install.')
@minLength(5)
param packageVersion string = '1.0.0'

@description('SHA-256 of install.sh, in hexadecimal.')
param installerSha256 string = ''

@description('SHA-256 of the package for the image, in hexadecimal.')
param packageSha256 string = ''

@description('Output `eventHubsFullyQualifiedNamespace` of main.bicep.')
param eventHubsFullyQualifiedNamespace string = ''

@description('Output `eventHubName` of main.bicep.')
param eventHubName string = 'scheduled-events'

@description('Output `relaySinkUrl` of main.bicep: where cards for Teams come from; empty: nowhere. It carries no signature.')
param relayAddress string = ''

// ---------------------------------------------------------------------------------------------------------------

var hasApplication = !empty(applicationPackageLink)
var hasCloudInit = !empty(packagePlace)
var needsGallery = hasApplication || enableImdsAccessControl
var suffix = take(uniqueString(resourceGroup().id, location, prefix), 8)

module gallery 'modules/gallery.bicep' = if (needsGallery) {
  name: '${prefix}-gallery'
  params: {
    location: location
    name: '${prefix}_${suffix}'
    tags: tags
  }
}

module application 'modules/vm-application.bicep' = if (hasApplication) {
  name: '${prefix}-application'
  params: {
    location: location
    galleryName: gallery.?outputs.galleryName ?? ''
    tags: tags
    version: applicationVersion
    packageLink: applicationPackageLink
    configurationLink: applicationConfigurationLink
    replicationRegions: replicationRegions
    replicasPerRegion: replicasPerRegion
    excludeFromLatest: excludeApplicationVersionFromLatest
  }
}

var applicationVersionId = hasApplication
  ? (application.?outputs.versionResourceId ?? '')
  : existingApplicationVersionResourceId

module imdsAccess 'modules/imds-access-control.bicep' = if (enableImdsAccessControl) {
  name: '${prefix}-imds-access'
  params: {
    location: location
    galleryName: gallery.?outputs.galleryName ?? ''
    tags: tags
    version: imdsAccessVersion
    mode: imdsAccessMode
    otherExecutables: imdsAllowedExecutables
    replicationRegions: replicationRegions
  }
}

module network 'modules/scale-set-network.bicep' = if (enableScaleSet && empty(subnetResourceId)) {
  name: '${prefix}-network'
  params: {
    location: location
    prefix: prefix
    tags: tags
  }
}

// ---------------------------------------------------------------------------------------------------------------
// infra/cloud-init/agent.yaml, with a sink for the relay in place of the one for Slack, and so without any secret

var cloudInitTemplate = loadTextContent('../infra/cloud-init/agent.yaml')
var slackSink = '''        ops:                                  # a secret, fetched from Key Vault below
          type: slack
          url: { credential: slack.url }
'''
var relaySink = '        relay:\n          type: logicapps\n          url: "${relayAddress}"\n          auth: managedIdentity\n          clientId: "${agentIdentityClientId}"\n          timeout: 30s\n'
var otherSink = empty(relayAddress) ? '' : relaySink
var withSinks = replace(cloudInitTemplate, slackSink, otherSink)
// The file ends with the vault and the secrets that its setup fetches from there.
var withoutSecrets = '${split(withSinks, ', "https://@VAULT@')[0]}]\n'
var withNamespace = replace(withoutSecrets, '@NAMESPACE@', split(eventHubsFullyQualifiedNamespace, '.')[0])
var withHub = replace(withNamespace, 'eventHubName: scheduled-events', 'eventHubName: ${eventHubName}')
var withIdentity = replace(withHub, '@IDENTITY_CLIENT_ID@', agentIdentityClientId)
var withPackage = replace(replace(withIdentity, '@PLACE@', packagePlace), '@VERSION@', packageVersion)
var withInstallerHash = replace(withPackage, '@INSTALLER_SHA256@', installerSha256)
var cloudInitText = replace(withInstallerHash, '@PACKAGE_SHA256@', packageSha256)

module scaleSet 'modules/scale-set.bicep' = if (enableScaleSet) {
  name: '${prefix}-scale-set'
  params: {
    location: location
    name: '${prefix}-fleet'
    tags: tags
    instanceCount: instanceCount
    vmSize: vmSize
    zones: zones
    subnetResourceId: empty(subnetResourceId) ? (network.?outputs.subnetResourceId ?? '') : subnetResourceId
    agentIdentityResourceId: agentIdentityResourceId
    adminUsername: adminUsername
    sshPublicKeyData: sshPublicKeyData
    image: image
    cloudInit: hasCloudInit ? cloudInitText : ''
    applicationVersionResourceId: applicationVersionId
    priority: priority
    terminateNotice: terminateNotice
    enableAutomaticOsUpgrade: enableAutomaticOsUpgrade
    approveUserActions: approveUserActions
    publishToEventGrid: publishToEventGrid
    encryptionAtHost: encryptionAtHost
    imdsAccessControlVersionResourceId: enableImdsAccessControl ? (imdsAccess.?outputs.versionResourceId ?? '') : ''
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Outputs

@description('Name of the scale set; empty without one.')
output scaleSetName string = enableScaleSet ? (scaleSet.?outputs.scaleSetName ?? '') : ''

@description('Resource id of the scale set; empty without one.')
output scaleSetResourceId string = enableScaleSet ? (scaleSet.?outputs.scaleSetResourceId ?? '') : ''

@description('Resource id of the version of the VM application, for install-policy.bicep and profiles of VMs; empty without one.')
output applicationVersionResourceId string = applicationVersionId

@description('Resource id of the version of the access control profile; empty without one.')
output imdsAccessControlVersionResourceId string = enableImdsAccessControl
  ? (imdsAccess.?outputs.versionResourceId ?? '')
  : ''

// One version of the agent as a VM application. The commands and file names are those of infra/vm-application/README.md.

@description('Azure region of the gallery.')
param location string

@description('Name of the gallery.')
param galleryName string

@description('Tags of application and version.')
param tags object

@description('Version of the program: three numbers.')
@minLength(5)
param version string

@description('Address of the blob with scheduled-events-bridge-VERSION-vmapp-linux.tar.gz. Azure reads it once, while the version is made: from a public blob or with a SAS that need not live longer than an hour, because a VM application cannot be fetched with an identity.')
@secure()
param packageLink string

@description('Address of the blob with the agent.yaml of every VM that is given no other; empty: none. It holds no secret.')
@secure()
param configurationLink string

@description('Regions to which the version is copied: each region that has VMs of the fleet. The gallery’s own is always among them.')
param replicationRegions string[]

@description('Copies in each region.')
@minValue(1)
@maxValue(3)
param replicasPerRegion int

@description('Whether VMs that ask for `latest` do not get this version: set it until the version was tried.')
param excludeFromLatest bool

resource gallery 'Microsoft.Compute/galleries@2024-03-03' existing = {
  name: galleryName
}

resource application 'Microsoft.Compute/galleries/applications@2024-03-03' = {
  parent: gallery
  name: 'scheduled-events-bridge'
  location: location
  tags: tags
  properties: {
    supportedOSType: 'Linux'
    description: 'Scheduled Events Bridge: the agent, as a service of systemd'
  }
}

resource release 'Microsoft.Compute/galleries/applications/versions@2024-03-03' = {
  parent: application
  name: version
  location: location
  tags: tags
  properties: {
    publishingProfile: {
      source: {
        mediaLink: packageLink
        defaultConfigurationLink: empty(configurationLink) ? null : configurationLink
      }
      settings: {
        packageFileName: 'scheduled-events-bridge.tar.gz'
        configFileName: 'agent.yaml'
        scriptBehaviorAfterReboot: 'Rerun'
      }
      manageActions: {
        install: 'tar -xzf scheduled-events-bridge.tar.gz && bash ./manage.sh install'
        update: 'tar -xzf scheduled-events-bridge.tar.gz && bash ./manage.sh update'
        remove: '{ test -f manage.sh || tar -xzf scheduled-events-bridge.tar.gz; } && bash ./manage.sh remove'
      }
      targetRegions: map(union([location], replicationRegions), region => {
        name: region
        regionalReplicaCount: replicasPerRegion
      })
      excludeFromLatest: excludeFromLatest
      storageAccountType: 'Standard_LRS'
    }
    safetyProfile: {
      allowDeletionOfReplicatedLocations: true
    }
  }
}

@description('Name of the application.')
output applicationName string = application.name

@description('Resource id of the version: what VMs, scale sets and the install policy refer to.')
output versionResourceId string = release.id

// PREVIEW: says which programs on a VM may ask the metadata service for Scheduled Events, and approve them.
// Any program on a VM can do both, which is what this is against. It needs the Metadata Security Protocol: the feature
// ProxyAgentPreview of Microsoft.Compute, and the Guest Proxy Agent on each VM, which the scale set module installs.
// What it breaks when it enforces: everything else that reads Scheduled Events on the VM, such as a Pacemaker agent, AKS'
// node problem detector or a script with curl, gets a 401 or 403, and so does a person at a shell. All other parts of the
// metadata service stay open. Begin with Audit, read /var/lib/azure-proxy-agent/ProxyAgent.Connection.log, then enforce.
// Source: learn.microsoft.com, "Metadata Security Protocol", its pages on configuration and advanced configuration.

@description('Azure region of the gallery.')
param location string

@description('Name of the gallery.')
param galleryName string

@description('Tags of profile and version.')
param tags object

@description('Version of the profile: three numbers. VMs keep the version they were given; rules that change are a new one.')
@minLength(5)
param version string

@description('Audit: requests that the rules do not allow are logged. Enforce: they are refused.')
@allowed([
  'Audit'
  'Enforce'
])
param mode string

@description('Programs that may ask for Scheduled Events beside the agent, by the full path of what runs: for a script that is its interpreter.')
param otherExecutables string[]

@description('Regions to which the version is copied: each region that has VMs of the fleet.')
param replicationRegions string[]

// The service runs as a user that systemd makes up when it starts, so that no rule can name it: the path it is.
var agentExecutable = '/usr/lib/scheduled-events-bridge/bin/seb'
var executables = union([agentExecutable], otherExecutables)

resource gallery 'Microsoft.Compute/galleries@2024-03-03' existing = {
  name: galleryName
}

resource profile 'Microsoft.Compute/galleries/inVMAccessControlProfiles@2024-03-03' = {
  parent: gallery
  name: 'scheduled-events-bridge-imds'
  location: location
  tags: tags
  properties: {
    description: 'Who may ask for Scheduled Events and approve them'
    osType: 'Linux'
    applicableHostEndpoint: 'IMDS'
  }
}

resource rules 'Microsoft.Compute/galleries/inVMAccessControlProfiles/versions@2024-03-03' = {
  parent: profile
  name: version
  location: location
  tags: tags
  properties: {
    mode: mode
    // What no rule names stays open; what one names is closed to everybody whom none lets in.
    defaultAccess: 'Allow'
    rules: {
      privileges: [
        {
          name: 'scheduled-events'
          path: '/metadata/scheduledevents'
        }
      ]
      roles: [
        {
          name: 'reader-of-events'
          privileges: [
            'scheduled-events'
          ]
        }
      ]
      identities: map(executables, path => {
        name: uniqueString(path)
        exePath: path
      })
      roleAssignments: [
        {
          role: 'reader-of-events'
          identities: map(executables, path => uniqueString(path))
        }
      ]
    }
    targetLocations: map(union([location], replicationRegions), region => {
      name: region
    })
    excludeFromLatest: false
  }
}

@description('Resource id of the version: what VMs and scale sets refer to.')
output versionResourceId string = rules.id

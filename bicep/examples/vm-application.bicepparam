// The agent as a VM application in a gallery, for VMs that exist already, and no scale set.
// Two links that can only read and end within the hour, out of the environment: bicep/README.md shows how they are made.
using '../fleet.bicep'

param prefix = 'seb'

// The outputs agentIdentityResourceId and agentIdentityClientId of main.bicep.
param agentIdentityResourceId = '/subscriptions/SUBSCRIPTION/resourceGroups/seb/providers/Microsoft.ManagedIdentity/userAssignedIdentities/seb-agent'
param agentIdentityClientId = '00000000-0000-0000-0000-000000000000'

param applicationPackageLink = readEnvironmentVariable('APPLICATION_PACKAGE_LINK')
param applicationConfigurationLink = readEnvironmentVariable('APPLICATION_CONFIGURATION_LINK')
param applicationVersion = '1.0.0'
// Each further region in which VMs of the fleet are.
param replicationRegions = []

param enableScaleSet = false

param tags = {
  application: 'scheduled-events-bridge'
  environment: 'production'
}

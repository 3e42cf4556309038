// A fleet that must not lose its trail: private endpoints, Capture, room to grow, retention ready to be locked.
using '../main.bicep'

param prefix = 'seb'

// Partitions cannot be added later on Standard.
param eventHubsSku = 'Standard'
param eventHubsCapacity = 2
param eventHubsMaximumThroughputUnits = 20
param partitionCount = 16
param retentionHours = 168
// Until the trail has a store that outlives a replica, these files are the long memory.
param enableCapture = true
param captureRetentionDays = 2555

param checkpointRedundancy = 'Standard_ZRS'
param auditRedundancy = 'Standard_GZRS'
param auditRetentionDays = 2555
// Deploy, look at it, lock it as bicep/README.md says, and then set this to true.
param auditPolicyLocked = false
param auditWriteAccess = 'append'
param protectAuditAccount = true

param consumerImage = 'sebregistry.azurecr.io/scheduled-events-bridge@sha256:0000000000000000000000000000000000000000000000000000000000000000'
param containerRegistryResourceId = '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/platform/providers/Microsoft.ContainerRegistry/registries/sebregistry'
param trailStore = 'sqlite'

param enablePrivateEndpoints = true
param allowPublicNetworkAccess = false
param virtualNetworkResourceId = '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/network/providers/Microsoft.Network/virtualNetworks/fleet'
param privateEndpointSubnetResourceId = '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/network/providers/Microsoft.Network/virtualNetworks/fleet/subnets/private-endpoints'
param consumerSubnetResourceId = '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/network/providers/Microsoft.Network/virtualNetworks/fleet/subnets/consumer'
param createPrivateDnsZones = true

param logRetentionDays = 90
param alertEmailAddresses = [
  'ops@example.com'
]
param alertActionGroupResourceIds = [
  '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/monitoring/providers/Microsoft.Insights/actionGroups/on-call'
]

param tags = {
  application: 'scheduled-events-bridge'
  environment: 'production'
}

// A fleet that must not lose its trail: PostgreSQL with a standby, several consumers, signed heads, private endpoints,
// Capture, room to grow, retention ready to be locked.
using '../main.bicep'

param prefix = 'seb'

// Partitions cannot be added later on Standard.
param eventHubsSku = 'Standard'
param eventHubsCapacity = 2
param eventHubsMaximumThroughputUnits = 20
param partitionCount = 16
param retentionHours = 168
// The raw records beside the trail, from Event Hubs itself: what the trail says can be compared with them.
param enableCapture = true
param captureRetentionDays = 2555

param checkpointRedundancy = 'Standard_ZRS'
param auditRedundancy = 'Standard_GZRS'
param auditRetentionDays = 2555
// Deploy, look at it, lock it as bicep/README.md says, and then set this to true.
param auditPolicyLocked = false
param auditWriteAccess = 'append'
param enableTrailArchive = true
param protectAuditAccount = true

param consumerImage = 'sebregistry.azurecr.io/scheduled-events-bridge@sha256:0000000000000000000000000000000000000000000000000000000000000000'
param containerRegistryResourceId = '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/platform/providers/Microsoft.ContainerRegistry/registries/sebregistry'
param trailStore = 'postgres'
param consumerReplicasMin = 2
param consumerReplicasMax = 8
// Make the key with `seb audit keygen`, and put it into the vault: bicep/README.md.
param signingKeyVaultResourceId = '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/security/providers/Microsoft.KeyVault/vaults/sebkeys'
param signingKeySecretNames = [
  'trail-1'
]

param postgresSkuName = 'Standard_D2ds_v5'
param postgresSkuTier = 'GeneralPurpose'
param postgresStorageGb = 128
param postgresHighlyAvailable = true
param postgresBackupRetentionDays = 35
param postgresGeoRedundantBackup = true
param postgresAdministratorObjectId = '00000000-0000-0000-0000-000000000000'
param postgresAdministratorName = 'seb-database-administrators'

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

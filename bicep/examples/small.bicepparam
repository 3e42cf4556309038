// The cheapest sensible deployment: to try the bridge out, or for a fleet whose trail may be lost with its region.
using '../main.bicep'

param prefix = 'seb'

// One unit that does not grow, two partitions, one day: the consumer is back within a day.
param eventHubsSku = 'Standard'
param eventHubsCapacity = 1
param eventHubsMaximumThroughputUnits = 0
param partitionCount = 2
param retentionHours = 24

param checkpointRedundancy = 'Standard_LRS'
param auditRedundancy = 'Standard_LRS'
param auditRetentionDays = 7
// So that the resource group can simply be deleted again.
param protectAuditAccount = false

// Without an image everything but the consumer is made. Give it by digest:
// param consumerImage = 'registry.example.com/scheduled-events-bridge@sha256:…'
param trailStore = 'sqlite'

param logDailyQuotaGb = 1
param alertEmailAddresses = [
  'ops@example.com'
]

param tags = {
  application: 'scheduled-events-bridge'
  environment: 'trial'
}

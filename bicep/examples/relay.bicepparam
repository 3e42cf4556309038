// A small deployment with the relay: records go to the hub, and cards to a Teams channel.
// The Teams workflow's URL is a secret: put it into the environment, never into a file or a command line.
//   read -rs TEAMS_WORKFLOW_URL && export TEAMS_WORKFLOW_URL
using '../main.bicep'

param prefix = 'seb'

param teamsWorkflowUrl = readEnvironmentVariable('TEAMS_WORKFLOW_URL')
// Without these two every event is a card, short freezes included; the hub gets everything either way.
// param relayEventTypes = ['Reboot', 'Redeploy', 'Preempt', 'Terminate']
// param relayMinimumSeverity = 'WARN'

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

param logDailyQuotaGb = 1
param alertEmailAddresses = [
  'ops@example.com'
]

param tags = {
  application: 'scheduled-events-bridge'
  environment: 'trial'
}

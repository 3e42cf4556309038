// Looks first which tagged VMs lack the agent; DeployIfNotExists then puts it there.
using '../install-policy.bicep'

param location = 'westeurope'
param prefix = 'seb'

// The output applicationVersionResourceId of fleet.bicep.
param applicationVersionResourceId = '/subscriptions/SUBSCRIPTION/resourceGroups/FLEET/providers/Microsoft.Compute/galleries/GALLERY/applications/scheduled-events-bridge/versions/1.0.0'

param tagName = 'scheduled-events-bridge'
param tagValue = 'install'
param effect = 'AuditIfNotExists'

// Two small VMs in a network of their own, whose agent is installed by cloud-init, and tells the hub and the relay.
// It goes into a resource group of its own. What stands in capitals comes from the deployment of main.bicep with
// relay.bicepparam (its outputs), from the built packages, and from your own key.
using '../fleet.bicep'

param prefix = 'seb'

// The outputs agentIdentityResourceId, agentIdentityClientId, eventHubsFullyQualifiedNamespace and relaySinkUrl.
param agentIdentityResourceId = '/subscriptions/SUBSCRIPTION/resourceGroups/seb/providers/Microsoft.ManagedIdentity/userAssignedIdentities/seb-agent'
param agentIdentityClientId = '00000000-0000-0000-0000-000000000000'
param eventHubsFullyQualifiedNamespace = 'NAMESPACE.servicebus.windows.net'
param relayAddress = 'https://REGION.logic.azure.com:443/workflows/WORKFLOW/triggers/record/paths/invoke?api-version=2016-10-01'

// Where install.sh, SHA256SUMS and the packages can be fetched, and the hashes of both files.
param packagePlace = 'https://ADDRESS-OF-THE-FOLDER'
param packageVersion = '1.0.0'
param installerSha256 = 'SHA256-OF-INSTALL.SH'
param packageSha256 = 'SHA256-OF-THE-DEB'

param instanceCount = 2
param vmSize = 'Standard_D2s_v5'
param terminateNotice = 'PT5M'
param adminUsername = 'fleet'
param sshPublicKeyData = 'ssh-ed25519 PUBLIC-KEY'

param tags = {
  application: 'scheduled-events-bridge'
  environment: 'trial'
}

// Lets the identity of the install policy put applications on the VMs of the subscription.
targetScope = 'subscription'

@description('Object id of the identity.')
param principalId string

@description('Id (a GUID) of the role definition.')
param roleDefinitionGuid string

// Named after the identity, which is another one when the policy was removed and comes back: Azure refuses to give an
// assignment that is there to somebody else.
resource writes 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(subscription().id, principalId, roleDefinitionGuid)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleDefinitionGuid)
    description: 'The install policy of Scheduled Events Bridge puts the application on VMs'
  }
}

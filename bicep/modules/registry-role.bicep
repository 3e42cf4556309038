// Lets the consumer's identity pull its image; deployed where the registry is.

@description('Name of the registry.')
param registryName string

@description('Object id of the identity.')
param principalId string

var acrPullRoleId = '7f951dda-4ed3-4680-a7ca-43fe172d538d'

resource registry 'Microsoft.ContainerRegistry/registries@2025-04-01' existing = {
  name: registryName
}

resource pulls 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: registry
  name: guid(registry.id, principalId, acrPullRoleId)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', acrPullRoleId)
    description: 'The consumer of Scheduled Events Bridge pulls its image'
  }
}

@description('Host name of the registry.')
output loginServer string = registry.properties.loginServer

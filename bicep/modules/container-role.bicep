// One role of one identity on one blob container.

@description('Name of the storage account.')
param storageAccountName string

@description('Name of the container.')
param containerName string

@description('Object id of the identity.')
param principalId string

@description('Id (a GUID) of the role definition.')
param roleDefinitionGuid string

@description('What the identity needs it for.')
param purpose string

resource account 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: storageAccountName
}

resource blobService 'Microsoft.Storage/storageAccounts/blobServices@2025-06-01' existing = {
  parent: account
  name: 'default'
}

resource container 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-06-01' existing = {
  parent: blobService
  name: containerName
}

resource assignment 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: container
  name: guid(container.id, principalId, roleDefinitionGuid)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleDefinitionGuid)
    description: purpose
  }
}

// Who may send to the hub and who may read it: on the hub itself, not on the namespace.

@description('Name of the namespace.')
param namespaceName string

@description('Name of the hub.')
param hubName string

@description('Object id of the identity of the agents.')
param agentPrincipalId string

@description('Object id of the identity of the consumer.')
param consumerPrincipalId string

@description('Object ids of whoever else may send; groups are possible.')
param senderPrincipalIds string[]

var dataSenderRoleId = '2b629674-e913-4c01-ae53-ef4638d8f975'
var dataReceiverRoleId = 'a638d3c7-ab3a-418d-83e6-5f17a39d4fde'

resource namespace 'Microsoft.EventHub/namespaces@2024-01-01' existing = {
  name: namespaceName
}

resource hub 'Microsoft.EventHub/namespaces/eventhubs@2024-01-01' existing = {
  parent: namespace
  name: hubName
}

resource agentSends 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: hub
  name: guid(hub.id, agentPrincipalId, dataSenderRoleId)
  properties: {
    principalId: agentPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', dataSenderRoleId)
    description: 'Agents of Scheduled Events Bridge send their records'
  }
}

resource consumerReceives 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: hub
  name: guid(hub.id, consumerPrincipalId, dataReceiverRoleId)
  properties: {
    principalId: consumerPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', dataReceiverRoleId)
    description: 'The consumer of Scheduled Events Bridge reads the hub'
  }
}

resource othersSend 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for principalId in senderPrincipalIds: {
    scope: hub
    name: guid(hub.id, principalId, dataSenderRoleId)
    properties: {
      principalId: principalId
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', dataSenderRoleId)
      description: 'Sends records of Scheduled Events Bridge'
    }
  }
]

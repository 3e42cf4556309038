// The identities that the programs sign in with: one for all agents, one for the consumer, one for Capture.

@description('Azure region.')
param location string

@description('Start of the names.')
param prefix string

@description('Tags of the identities.')
param tags object

@description('Whether Event Hubs Capture needs an identity, too.')
param withCapture bool

resource agent 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: '${prefix}-agent'
  location: location
  tags: tags
}

resource consumer 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: '${prefix}-consumer'
  location: location
  tags: tags
}

resource capture 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = if (withCapture) {
  name: '${prefix}-capture'
  location: location
  tags: tags
}

@description('Resource id of the identity of the agents.')
output agentResourceId string = agent.id

@description('Client id of the identity of the agents.')
output agentClientId string = agent.properties.clientId

@description('Object id of the identity of the agents.')
output agentPrincipalId string = agent.properties.principalId

@description('Resource id of the identity of the consumer.')
output consumerResourceId string = consumer.id

@description('Client id of the identity of the consumer.')
output consumerClientId string = consumer.properties.clientId

@description('Object id of the identity of the consumer.')
output consumerPrincipalId string = consumer.properties.principalId

@description('Name of the identity of the consumer, by which a database knows it.')
output consumerName string = consumer.name

@description('Resource id of the identity of Capture; empty without Capture.')
output captureResourceId string = withCapture ? capture.id : ''

@description('Object id of the identity of Capture; empty without Capture.')
output capturePrincipalId string = withCapture ? (capture.?properties.principalId ?? '') : ''

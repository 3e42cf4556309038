// Lets the consumer's identity read its signing keys, and no other secret; deployed where the vault is.

@description('Name of the key vault; one that Azure roles open.')
param vaultName string

@description('Names of the secrets that hold a signing key each.')
param secretNames string[]

@description('Object id of the identity.')
param principalId string

var keyVaultSecretsUserRoleId = '4633458b-17de-408a-b874-0445c86b69e6'

resource vault 'Microsoft.KeyVault/vaults@2024-11-01' existing = {
  name: vaultName
}

resource keys 'Microsoft.KeyVault/vaults/secrets@2024-11-01' existing = [
  for name in secretNames: {
    parent: vault
    name: name
  }
]

resource reads 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (name, index) in secretNames: {
    scope: keys[index]
    name: guid(vault.id, name, principalId, keyVaultSecretsUserRoleId)
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', keyVaultSecretsUserRoleId)
      description: 'The consumer of Scheduled Events Bridge signs with the key ${name}'
    }
  }
]

@description('Address of the vault, with a slash at the end.')
output address string = vault.properties.vaultUri

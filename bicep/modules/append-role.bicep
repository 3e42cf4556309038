// A role that can read blobs and add to them, but neither overwrite nor delete: the built-in Contributor can.

@description('Name of the role, as people see it; unique in the tenant.')
@maxLength(128)
param roleName string

var roleGuid = guid(resourceGroup().id, 'append-only')

// That creating an append blob and appending a block need no more than add/action was not tried on a real account.
resource role 'Microsoft.Authorization/roleDefinitions@2022-04-01' = {
  name: roleGuid
  properties: {
    roleName: roleName
    description: 'Reads blobs and appends to them; cannot overwrite or delete.'
    type: 'CustomRole'
    assignableScopes: [
      resourceGroup().id
    ]
    permissions: [
      {
        actions: []
        notActions: []
        dataActions: [
          'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read'
          'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/add/action'
        ]
        notDataActions: []
      }
    ]
  }
}

@description('Id (a GUID) of the role definition.')
output roleDefinitionGuid string = role.name

// Lets an identity read a gallery: who puts a VM application on a VM must be able to.

@description('Name of the gallery.')
param galleryName string

@description('Object id of the identity.')
param principalId string

var azureReaderRoleId = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'

resource gallery 'Microsoft.Compute/galleries@2024-03-03' existing = {
  name: galleryName
}

resource reads 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: gallery
  name: guid(gallery.id, principalId, azureReaderRoleId)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', azureReaderRoleId)
    description: 'The install policy of Scheduled Events Bridge puts the application of this gallery on VMs'
  }
}

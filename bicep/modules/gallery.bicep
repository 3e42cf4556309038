// The Azure Compute Gallery that holds the VM application and the access control profiles.

@description('Azure region.')
param location string

@description('Name of the gallery: letters, digits, dots and underscores, once in a subscription.')
@minLength(1)
@maxLength(80)
param name string

@description('Tags of the gallery.')
param tags object

resource gallery 'Microsoft.Compute/galleries@2024-03-03' = {
  name: name
  location: location
  tags: tags
  properties: {
    description: 'What Scheduled Events Bridge is installed from'
  }
}

@description('Name of the gallery.')
output galleryName string = gallery.name

@description('Resource id of the gallery.')
output galleryResourceId string = gallery.id

// Private endpoints in one subnet, and the private DNS zones that make their names resolve to them.

@description('Azure region.')
param location string

@description('Tags of endpoints and zones.')
param tags object

@description('Subnet of the endpoints.')
param subnetResourceId string

@description('What gets an endpoint: its name, the resource, the part of it, and the DNS zone of its names.')
param endpoints {
  name: string
  resourceId: string
  groupId: string
  zoneName: string
}[]

@description('Whether to make the DNS zones here; otherwise they are somebody else’s task.')
param createZones bool

@description('The DNS zones, each once.')
param zoneNames string[]

@description('Virtual network in which the names resolve.')
param virtualNetworkResourceId string

resource zones 'Microsoft.Network/privateDnsZones@2024-06-01' = [
  for zoneName in zoneNames: if (createZones) {
    name: zoneName
    location: 'global'
    tags: tags
  }
]

resource links 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [
  for (zoneName, index) in zoneNames: if (createZones) {
    parent: zones[index]
    name: 'fleet'
    location: 'global'
    tags: tags
    properties: {
      registrationEnabled: false
      virtualNetwork: {
        id: virtualNetworkResourceId
      }
    }
  }
]

resource privateEndpoints 'Microsoft.Network/privateEndpoints@2024-05-01' = [
  for endpoint in endpoints: {
    name: endpoint.name
    location: location
    tags: tags
    properties: {
      subnet: {
        id: subnetResourceId
      }
      customNetworkInterfaceName: '${endpoint.name}-nic'
      privateLinkServiceConnections: [
        {
          name: endpoint.name
          properties: {
            privateLinkServiceId: endpoint.resourceId
            groupIds: [
              endpoint.groupId
            ]
          }
        }
      ]
    }
  }
]

resource zoneGroups 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-05-01' = [
  for (endpoint, index) in endpoints: if (createZones) {
    parent: privateEndpoints[index]
    name: 'default'
    properties: {
      privateDnsZoneConfigs: [
        {
          name: replace(endpoint.zoneName, '.', '-')
          properties: {
            privateDnsZoneId: resourceId('Microsoft.Network/privateDnsZones', endpoint.zoneName)
          }
        }
      ]
    }
    dependsOn: [
      links
    ]
  }
]

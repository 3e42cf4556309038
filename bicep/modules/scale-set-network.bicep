// A virtual network of its own for a scale set: nothing comes in, and what goes out takes one known address.

@description('Azure region.')
param location string

@description('Start of the names.')
param prefix string

@description('Tags of the network.')
param tags object

@description('Address range of the network.')
param addressPrefix string = '10.90.0.0/24'

@description('Availability zone of the NAT gateway’s address; several zones are chosen by Azure when empty.')
param natZones string[] = []

resource securityGroup 'Microsoft.Network/networkSecurityGroups@2024-05-01' = {
  name: '${prefix}-fleet'
  location: location
  tags: tags
  properties: {
    securityRules: [
      {
        name: 'nothing-comes-in'
        properties: {
          description: 'The agent only calls out. The load balancer’s own probes are let in by no rule because there is none.'
          priority: 4096
          direction: 'Inbound'
          access: 'Deny'
          protocol: '*'
          sourceAddressPrefix: '*'
          sourcePortRange: '*'
          destinationAddressPrefix: '*'
          destinationPortRange: '*'
        }
      }
    ]
  }
}

resource natAddress 'Microsoft.Network/publicIPAddresses@2024-05-01' = {
  name: '${prefix}-fleet-nat'
  location: location
  tags: tags
  sku: {
    name: 'Standard'
  }
  zones: empty(natZones) ? null : natZones
  properties: {
    publicIPAllocationMethod: 'Static'
  }
}

resource nat 'Microsoft.Network/natGateways@2024-05-01' = {
  name: '${prefix}-fleet'
  location: location
  tags: tags
  sku: {
    name: 'Standard'
  }
  zones: empty(natZones) ? null : natZones
  properties: {
    idleTimeoutInMinutes: 4
    publicIpAddresses: [
      {
        id: natAddress.id
      }
    ]
  }
}

resource network 'Microsoft.Network/virtualNetworks@2024-05-01' = {
  name: '${prefix}-fleet'
  location: location
  tags: tags
  properties: {
    addressSpace: {
      addressPrefixes: [
        addressPrefix
      ]
    }
    subnets: [
      {
        name: 'vms'
        properties: {
          addressPrefix: addressPrefix
          // Without the gateway there is no way out, instead of one that Azure picks.
          defaultOutboundAccess: false
          networkSecurityGroup: {
            id: securityGroup.id
          }
          natGateway: {
            id: nat.id
          }
        }
      }
    ]
  }
}

@description('Resource id of the subnet for the VMs.')
output subnetResourceId string = network.properties.subnets[0].id

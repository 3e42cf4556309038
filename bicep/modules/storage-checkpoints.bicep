// The storage account of the checkpoint blobs: small, rewritten all the time, and of no value once lost.

@description('Azure region.')
param location string

@description('Name of the account, unique in all of Azure.')
@minLength(3)
@maxLength(24)
param accountName string

@description('Tags of the account.')
param tags object

@description('Redundancy.')
param redundancy string

@description('Whether the account can be reached from outside of private endpoints.')
param allowPublicNetworkAccess bool

@description('Address ranges (CIDR) that may reach it; everybody with a role when these and the subnets are empty.')
param allowedIpRanges string[]

@description('Resource ids of subnets with the service endpoint Microsoft.Storage that may reach it.')
param allowedSubnetResourceIds string[]

@description('Resource id of the Log Analytics workspace for metrics.')
param workspaceResourceId string

var isRestricted = !allowPublicNetworkAccess || !empty(allowedIpRanges) || !empty(allowedSubnetResourceIds)

resource account 'Microsoft.Storage/storageAccounts@2025-06-01' = {
  name: accountName
  location: location
  tags: tags
  sku: {
    name: redundancy
  }
  kind: 'StorageV2'
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    isLocalUserEnabled: false
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: allowPublicNetworkAccess ? 'Enabled' : 'Disabled'
    networkAcls: {
      bypass: 'AzureServices'
      defaultAction: isRestricted ? 'Deny' : 'Allow'
      ipRules: [
        for range in allowedIpRanges: {
          // One address has no length here: storage refuses /32, which Event Hubs takes.
          value: replace(range, '/32', '')
          action: 'Allow'
        }
      ]
      virtualNetworkRules: [
        for subnetId in allowedSubnetResourceIds: {
          id: subnetId
          action: 'Allow'
        }
      ]
    }
  }
}

// Each of these would keep every version of blobs that are rewritten every few seconds.
resource blobService 'Microsoft.Storage/storageAccounts/blobServices@2025-06-01' = {
  parent: account
  name: 'default'
  properties: {
    isVersioningEnabled: false
    deleteRetentionPolicy: {
      enabled: false
    }
    containerDeleteRetentionPolicy: {
      enabled: false
    }
  }
}

resource container 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-06-01' = {
  parent: blobService
  name: 'checkpoints'
  properties: {
    publicAccess: 'None'
  }
}

// Metrics alone: the log of every rewritten blob would be larger than the blobs.
resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: blobService
  name: 'workspace'
  properties: {
    workspaceId: workspaceResourceId
    metrics: [
      {
        category: 'Transaction'
        enabled: true
      }
    ]
  }
}

@description('Resource id of the account.')
output accountResourceId string = account.id

@description('Name of the account.')
output accountName string = account.name

@description('Name of the container.')
output containerName string = container.name

@description('Address of the container.')
output containerUrl string = '${account.properties.primaryEndpoints.blob}${container.name}'

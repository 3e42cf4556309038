// The storage account of the audit trail: nothing in the container `trail` can be changed or deleted before its time.

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

@description('Days for which blobs cannot be changed or deleted, counted from the last append.')
@minValue(1)
@maxValue(146000)
param retentionDays int

@description('Whether the retention policy is locked already: Azure then refuses to write it again.')
param policyLocked bool

@description('Whether to put a CanNotDelete lock on the account.')
param protectAccount bool

@description('Days until captured files are deleted.')
@minValue(1)
@maxValue(36500)
param captureRetentionDays int

@description('Whether the account can be reached from outside of private endpoints.')
param allowPublicNetworkAccess bool

@description('Address ranges (CIDR) that may reach it; everybody with a role when these and the subnets are empty.')
param allowedIpRanges string[]

@description('Resource ids of subnets with the service endpoint Microsoft.Storage that may reach it.')
param allowedSubnetResourceIds string[]

@description('Resource id of the Log Analytics workspace for logs and metrics.')
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
    // Capture comes in as a trusted service, with its own identity.
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

resource blobService 'Microsoft.Storage/storageAccounts/blobServices@2025-06-01' = {
  parent: account
  name: 'default'
  properties: {
    isVersioningEnabled: false
    deleteRetentionPolicy: {
      enabled: true
      days: 14
    }
    containerDeleteRetentionPolicy: {
      enabled: true
      days: 14
    }
  }
}

resource trail 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-06-01' = {
  parent: blobService
  name: 'trail'
  properties: {
    publicAccess: 'None'
  }
}

// On the container, not on versions: there a writer could choose to leave a blob without a policy.
resource retention 'Microsoft.Storage/storageAccounts/blobServices/containers/immutabilityPolicies@2025-06-01' = if (!policyLocked) {
  parent: trail
  name: 'default'
  properties: {
    immutabilityPeriodSinceCreationInDays: retentionDays
    allowProtectedAppendWrites: true
  }
}

resource capture 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-06-01' = {
  parent: blobService
  name: 'capture'
  properties: {
    publicAccess: 'None'
  }
}

resource captureCleanup 'Microsoft.Storage/storageAccounts/managementPolicies@2025-06-01' = {
  parent: account
  name: 'default'
  properties: {
    policy: {
      rules: [
        {
          name: 'delete-old-captures'
          enabled: true
          type: 'Lifecycle'
          definition: {
            filters: {
              blobTypes: [
                'blockBlob'
              ]
              prefixMatch: [
                '${capture.name}/'
              ]
            }
            actions: {
              baseBlob: {
                delete: {
                  daysAfterCreationGreaterThan: captureRetentionDays
                }
              }
            }
          }
        }
      ]
    }
  }
}

resource accountLock 'Microsoft.Authorization/locks@2020-05-01' = if (protectAccount) {
  scope: account
  name: 'keep-the-audit-trail'
  properties: {
    level: 'CanNotDelete'
    notes: 'Holds the audit trail of Scheduled Events Bridge.'
  }
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: blobService
  name: 'workspace'
  properties: {
    workspaceId: workspaceResourceId
    logs: [
      {
        categoryGroup: 'audit'
        enabled: true
      }
    ]
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

@description('Name of the container of the trail.')
output containerName string = trail.name

@description('Address of the container of the trail.')
output containerUrl string = '${account.properties.primaryEndpoints.blob}${trail.name}'

@description('Name of the container that Capture writes to.')
output captureContainerName string = capture.name

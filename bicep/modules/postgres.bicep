// The PostgreSQL server for a trail that several consumers share; sign-in by Entra identities only.

@description('Azure region.')
param location string

@description('Name of the server, unique in all of Azure.')
@minLength(3)
@maxLength(63)
param serverName string

@description('Tags of the server.')
param tags object

@description('Size of the server.')
param skuName string

@description('Tier that the size belongs to.')
@allowed([
  'Burstable'
  'GeneralPurpose'
  'MemoryOptimized'
])
param skuTier string

@description('Storage in gigabytes; it grows by itself.')
@minValue(32)
@maxValue(32767)
param storageGb int

@description('Whether a standby in another zone takes over; not with Burstable.')
param highlyAvailable bool

@description('Days that backups are kept.')
@minValue(7)
@maxValue(35)
param backupRetentionDays int

@description('Whether backups are kept in the paired region, too; it cannot be changed later.')
param geoRedundantBackup bool

@description('Whether the server can be reached from outside of private endpoints.')
param allowPublicNetworkAccess bool

@description('Whether programs in Azure, of whatever tenant, reach the server without a private endpoint; they still need to sign in.')
param allowAzureServices bool

@description('Object id of the Entra user or group that administers the server.')
param administratorObjectId string

@description('Name of that user (user principal name) or group.')
param administratorName string

@description('What it is.')
@allowed([
  'Group'
  'User'
  'ServicePrincipal'
])
param administratorType string

@description('Resource id of the Log Analytics workspace for logs and metrics.')
param workspaceResourceId string

resource server 'Microsoft.DBforPostgreSQL/flexibleServers@2024-08-01' = {
  name: serverName
  location: location
  tags: tags
  sku: {
    name: skuName
    tier: skuTier
  }
  properties: {
    version: '16'
    authConfig: {
      activeDirectoryAuth: 'Enabled'
      passwordAuth: 'Disabled'
      tenantId: tenant().tenantId
    }
    storage: {
      storageSizeGB: storageGb
      autoGrow: 'Enabled'
    }
    backup: {
      backupRetentionDays: backupRetentionDays
      geoRedundantBackup: geoRedundantBackup ? 'Enabled' : 'Disabled'
    }
    highAvailability: {
      mode: highlyAvailable ? 'ZoneRedundant' : 'Disabled'
    }
    network: {
      publicNetworkAccess: allowPublicNetworkAccess ? 'Enabled' : 'Disabled'
    }
  }
}

resource administrator 'Microsoft.DBforPostgreSQL/flexibleServers/administrators@2024-08-01' = {
  parent: server
  name: administratorObjectId
  properties: {
    principalName: administratorName
    principalType: administratorType
    tenantId: tenant().tenantId
  }
}

// One change at a time: the server refuses a second one while it is busy.
resource database 'Microsoft.DBforPostgreSQL/flexibleServers/databases@2024-08-01' = {
  parent: server
  name: 'trail'
  properties: {
    charset: 'UTF8'
    collation: 'en_US.utf8'
  }
  dependsOn: [
    administrator
  ]
}

resource azureServices 'Microsoft.DBforPostgreSQL/flexibleServers/firewallRules@2024-08-01' = if (allowPublicNetworkAccess && allowAzureServices) {
  parent: server
  name: 'azure-services'
  properties: {
    startIpAddress: '0.0.0.0'
    endIpAddress: '0.0.0.0'
  }
  dependsOn: [
    database
  ]
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: server
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
        category: 'AllMetrics'
        enabled: true
      }
    ]
  }
}

@description('Resource id of the server.')
output serverResourceId string = server.id

@description('Host name of the server.')
output fullyQualifiedDomainName string = server.properties.fullyQualifiedDomainName

@description('Name of the database.')
output databaseName string = database.name

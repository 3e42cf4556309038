// The namespace, the hub that all agents send to, and the consumer group of the audit consumer.

@description('Azure region.')
param location string

@description('Name of the namespace, unique in all of Azure.')
@minLength(6)
@maxLength(50)
param namespaceName string

@description('Tags of the namespace.')
param tags object

@description('Tier; it cannot be changed in place.')
@allowed([
  'Standard'
  'Premium'
])
param sku string

@description('Throughput units (Standard) or processing units (Premium).')
@minValue(1)
@maxValue(40)
param capacity int

@description('Standard only: how far the throughput units may grow; 0 switches that off.')
@minValue(0)
@maxValue(40)
param maximumThroughputUnits int

@description('Whether the namespace is spread over the zones of the region.')
param zoneRedundant bool

@description('Name of the hub.')
@minLength(1)
@maxLength(256)
param hubName string

@description('Name of the consumer group.')
@minLength(1)
@maxLength(50)
param consumerGroupName string

@description('Partitions of the hub.')
@minValue(1)
@maxValue(32)
param partitionCount int

@description('How long the hub keeps records, in hours.')
@minValue(1)
@maxValue(2160)
param retentionHours int

@description('Whether the namespace can be reached from outside of private endpoints.')
param allowPublicNetworkAccess bool

@description('Address ranges (CIDR) that may reach it; everybody when these and the subnets are empty.')
param allowedIpRanges string[]

@description('Resource ids of subnets with the service endpoint Microsoft.EventHub that may reach it.')
param allowedSubnetResourceIds string[]

@description('Resource id of the identity of Capture; empty: no Capture.')
param captureIdentityResourceId string

@description('Resource id of the storage account that Capture writes to.')
param captureStorageAccountResourceId string

@description('Container that Capture writes to; its role must be assigned before the hub is made.')
param captureContainerName string

@description('Resource id of the Log Analytics workspace for logs and metrics.')
param workspaceResourceId string

var isStandard = sku == 'Standard'
var autoInflates = isStandard && maximumThroughputUnits > capacity
var captures = !empty(captureIdentityResourceId)
var standardRetentionHours = 168
// Azure compares these names without regard to case, checkpoint blobs and the scaler do not.
var lowerHubName = toLower(hubName)
var lowerConsumerGroupName = toLower(consumerGroupName)
var isRestricted = !allowPublicNetworkAccess || !empty(allowedIpRanges) || !empty(allowedSubnetResourceIds)
var publicNetworkAccess = allowPublicNetworkAccess ? 'Enabled' : 'Disabled'

resource namespace 'Microsoft.EventHub/namespaces@2024-01-01' = {
  name: namespaceName
  location: location
  tags: tags
  sku: {
    name: sku
    tier: sku
    capacity: capacity
  }
  identity: captures
    ? {
        type: 'UserAssigned'
        userAssignedIdentities: {
          '${captureIdentityResourceId}': {}
        }
      }
    : null
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
    zoneRedundant: zoneRedundant
    kafkaEnabled: false
    publicNetworkAccess: publicNetworkAccess
    isAutoInflateEnabled: autoInflates
    maximumThroughputUnits: autoInflates ? maximumThroughputUnits : 0
  }
}

resource networkRules 'Microsoft.EventHub/namespaces/networkRuleSets@2024-01-01' = {
  parent: namespace
  name: 'default'
  properties: {
    publicNetworkAccess: publicNetworkAccess
    defaultAction: isRestricted ? 'Deny' : 'Allow'
    trustedServiceAccessEnabled: true
    ipRules: [
      for range in allowedIpRanges: {
        ipMask: range
        action: 'Allow'
      }
    ]
    virtualNetworkRules: [
      for subnetId in allowedSubnetResourceIds: {
        subnet: {
          id: subnetId
        }
        ignoreMissingVnetServiceEndpoint: false
      }
    ]
  }
}

resource hub 'Microsoft.EventHub/namespaces/eventhubs@2024-01-01' = {
  parent: namespace
  name: lowerHubName
  properties: {
    partitionCount: partitionCount
    retentionDescription: {
      cleanupPolicy: 'Delete'
      retentionTimeInHours: isStandard ? min(retentionHours, standardRetentionHours) : retentionHours
    }
    captureDescription: captures
      ? {
          enabled: true
          encoding: 'Avro'
          intervalInSeconds: 300
          sizeLimitInBytes: 104857600
          skipEmptyArchives: true
          destination: {
            name: 'EventHubArchive.AzureBlockBlob'
            identity: {
              type: 'UserAssigned'
              userAssignedIdentity: captureIdentityResourceId
            }
            properties: {
              storageAccountResourceId: captureStorageAccountResourceId
              blobContainer: captureContainerName
              archiveNameFormat: '{Namespace}/{EventHub}/{PartitionId}/{Year}/{Month}/{Day}/{Hour}/{Minute}/{Second}'
            }
          }
        }
      : null
  }
}

resource consumerGroup 'Microsoft.EventHub/namespaces/eventhubs/consumergroups@2024-01-01' = {
  parent: hub
  name: lowerConsumerGroupName
  properties: {
    userMetadata: 'The audit consumer of Scheduled Events Bridge'
  }
}

// Beside consumers that share the first group the hub lets nobody else read in it.
resource replayGroup 'Microsoft.EventHub/namespaces/eventhubs/consumergroups@2024-01-01' = {
  parent: hub
  name: 'replay'
  properties: {
    userMetadata: 'For `seb audit replay`, which compares the trail with the hub'
  }
  // One change of a hub at a time.
  dependsOn: [
    consumerGroup
  ]
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: namespace
  name: 'workspace'
  properties: {
    workspaceId: workspaceResourceId
    logs: [
      {
        categoryGroup: 'allLogs'
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

@description('Resource id of the namespace.')
output namespaceResourceId string = namespace.id

@description('Name of the namespace.')
output namespaceName string = namespace.name

@description('Host name of the namespace, as this cloud spells it.')
output fullyQualifiedNamespace string = split(replace(namespace.properties.serviceBusEndpoint, 'https://', ''), ':')[0]

@description('Name of the hub.')
output hubName string = hub.name

@description('Resource id of the hub.')
output hubResourceId string = hub.id

@description('Name of the consumer group.')
output consumerGroupName string = consumerGroup.name

// Everything the bridge needs in one resource group: the hub, its storage, identities, the consumer, logs and alerts.
targetScope = 'resourceGroup'

// ---------------------------------------------------------------------------------------------------------------
// General

@description('Azure region of every resource.')
param location string = resourceGroup().location

@description('Start of every resource name: lower-case letters and digits, beginning with a letter.')
@minLength(2)
@maxLength(8)
param prefix string = 'seb'

@description('Tags of every resource that can have them.')
param tags object = {
  application: 'scheduled-events-bridge'
}

// ---------------------------------------------------------------------------------------------------------------
// Event Hubs

@description('Tier of the Event Hubs namespace. Azure cannot change it in place between Standard and Premium: another tier is another namespace.')
@allowed([
  'Standard'
  'Premium'
])
param eventHubsSku string = 'Standard'

@description('Throughput units (Standard) or processing units (Premium: 1, 2, 4, 8 or 16).')
@minValue(1)
@maxValue(40)
param eventHubsCapacity int = 1

@description('Standard only: how many throughput units the namespace may grow to by itself; 0 switches that off.')
@minValue(0)
@maxValue(40)
param eventHubsMaximumThroughputUnits int = 20

@description('Whether the namespace is spread over the zones of the region; off where the region has none.')
param eventHubsZoneRedundant bool = true

@description('Name of the hub; always made lower case, because checkpoints and the scaler look for it in lower case.')
@minLength(1)
@maxLength(256)
param eventHubName string = 'scheduled-events'

@description('Name of the consumer group of the audit consumer; always made lower case, and never $Default.')
@minLength(1)
@maxLength(50)
param consumerGroupName string = 'audit'

@description('Partitions of the hub. Standard cannot raise it later: 4 serve a fleet of 100,000 VMs, take 16 to 32 if growth is expected.')
@minValue(1)
@maxValue(32)
param partitionCount int = 4

@description('How long the hub keeps records, in hours; Standard keeps at most 168. The consumer can be away that long without a loss.')
@minValue(1)
@maxValue(2160)
param retentionHours int = 168

@description('Object ids of further identities or groups that may send to the hub, beside the agents’ own identity.')
param senderPrincipalIds string[] = []

@description('Keeps everything the hub receives as Avro files in the container `capture` of the audit account (Event Hubs Capture).')
param enableCapture bool = false

@description('Days until captured files are deleted.')
@minValue(1)
@maxValue(36500)
param captureRetentionDays int = 365

// ---------------------------------------------------------------------------------------------------------------
// Storage

@description('Redundancy of the checkpoint account: Standard_LRS where the region has no zones.')
@allowed([
  'Standard_ZRS'
  'Standard_LRS'
])
param checkpointRedundancy string = 'Standard_ZRS'

@description('Redundancy of the audit account: another one where the region has no zones or no pair.')
@allowed([
  'Standard_GZRS'
  'Standard_RAGZRS'
  'Standard_GRS'
  'Standard_RAGRS'
  'Standard_ZRS'
  'Standard_LRS'
])
param auditRedundancy string = 'Standard_GZRS'

@description('Days for which nothing in the container `trail` can be changed or deleted, counted from the last append.')
@minValue(1)
@maxValue(146000)
param auditRetentionDays int = 365

@description('Set it once you locked the retention policy: Azure refuses to write a locked policy again, so the template then leaves it alone.')
param auditPolicyLocked bool = false

@description('What the consumer may do in the container `trail`. none: nothing. append: a custom role that can read and add, not delete (needs the right to define roles). contributor: the built-in role, where that is not possible. With either, a consumer that signs anchors the heads of its trail there.')
@allowed([
  'none'
  'append'
  'contributor'
])
param auditWriteAccess string = 'none'

@description('Copies the whole log into the container `trail`, too, where it can be verified without the consumer and without its store; needs auditWriteAccess. Under a locked policy it stays, and costs, until its time is over.')
param enableTrailArchive bool = false

@description('Puts a CanNotDelete lock on the audit account.')
param protectAuditAccount bool = true

// ---------------------------------------------------------------------------------------------------------------
// Consumer and its trail

@description('Image of the bridge, by digest: registry.example.com/scheduled-events-bridge@sha256:… . Without it everything but the consumer is deployed.')
param consumerImage string = ''

@description('Resource id of the Azure Container Registry that holds the image; the consumer’s identity gets AcrPull on it. Empty for a public registry.')
param containerRegistryResourceId string = ''

@description('Where the consumer keeps the trail. sqlite: one replica, a file that ends with the replica, and is rebuilt from what the hub still holds. postgres: a PostgreSQL server is deployed, and several replicas share the trail in it, once its administrator let them in.')
@allowed([
  'sqlite'
  'postgres'
])
param trailStore string = 'sqlite'

@description('Fewest replicas of the consumer with trailStore postgres; with 2 the other one goes on when a machine ends.')
@minValue(1)
@maxValue(32)
param consumerReplicasMin int = 2

@description('Most replicas of the consumer with trailStore postgres; beyond the number of partitions they would have nothing to do.')
@minValue(1)
@maxValue(32)
param consumerReplicasMax int = partitionCount

@description('Resource id of the key vault that holds the consumer’s signing keys; its identity may read these secrets alone. The vault must be one that Azure roles open. Empty: none.')
param signingKeyVaultResourceId string = ''

@description('Names of the secrets in that vault that hold a signing key each, as `seb audit keygen` writes it. The first is the one that counts; the others sign as well, while a key is replaced.')
@maxLength(16)
param signingKeySecretNames string[] = []

@description('A signing key as `seb audit keygen` writes it, where there is no vault; empty: none. Without a key the trail proves nothing against whoever can write the database.')
@secure()
param signingKey string = ''

@description('URL of a Slack webhook that the consumer tells of each fact once, for the whole fleet; empty: none.')
@secure()
param noticeSlackUrl string = ''

@description('URL of a Teams workflow that the consumer tells of each fact once, for the whole fleet; empty: none.')
@secure()
param noticeTeamsWorkflowUrl string = ''

@description('Subnet for the consumer’s Container Apps environment, delegated to Microsoft.App/environments, /27 or larger. Needed when public network access is off.')
param consumerSubnetResourceId string = ''

@description('Size of the PostgreSQL server; one that its tier offers in this region.')
param postgresSkuName string = 'Standard_B1ms'

@description('Tier of the PostgreSQL server. Burstable is for trying it out: it has no standby.')
@allowed([
  'Burstable'
  'GeneralPurpose'
  'MemoryOptimized'
])
param postgresSkuTier string = 'Burstable'

@description('Storage of the PostgreSQL server in gigabytes; it grows by itself.')
@minValue(32)
@maxValue(32767)
param postgresStorageGb int = 32

@description('Whether a standby of the PostgreSQL server in another zone takes over; not with Burstable.')
param postgresHighlyAvailable bool = false

@description('Days that backups of the PostgreSQL server are kept.')
@minValue(7)
@maxValue(35)
param postgresBackupRetentionDays int = 14

@description('Whether backups of the PostgreSQL server are kept in the paired region, too; it cannot be changed later.')
param postgresGeoRedundantBackup bool = false

@description('Whether any program in Azure reaches the PostgreSQL server while public network access is on; it still has to sign in. Without private endpoints the consumer needs it.')
param postgresAllowAzureServices bool = false

@description('Object id of the Entra user or group that administers the PostgreSQL server; needed with trailStore postgres.')
param postgresAdministratorObjectId string = ''

@description('Name of that group, or user principal name of that user.')
param postgresAdministratorName string = ''

@description('What the administrator of the PostgreSQL server is.')
@allowed([
  'Group'
  'User'
  'ServicePrincipal'
])
param postgresAdministratorType string = 'Group'

// ---------------------------------------------------------------------------------------------------------------
// Network

@description('Makes private endpoints for the namespace, both storage accounts and PostgreSQL.')
param enablePrivateEndpoints bool = false

@description('Whether namespace, storage accounts and PostgreSQL can be reached from outside of private endpoints. Every access needs an Entra identity with a role either way.')
param allowPublicNetworkAccess bool = !enablePrivateEndpoints

@description('Address ranges (CIDR) that may reach namespace and storage accounts; everybody with a role when these and the subnets are empty.')
param allowedIpRanges string[] = []

@description('Subnets that may reach namespace and storage accounts, with the service endpoints Microsoft.EventHub and Microsoft.Storage.')
param allowedSubnetResourceIds string[] = []

@description('Subnet of the private endpoints.')
param privateEndpointSubnetResourceId string = ''

@description('Virtual network in which the names of the private endpoints resolve.')
param virtualNetworkResourceId string = ''

@description('Whether to make private DNS zones in this resource group. Switch it off where a policy or a central team does that.')
param createPrivateDnsZones bool = true

// ---------------------------------------------------------------------------------------------------------------
// Logs and alerts

@description('Days that logs are kept.')
@minValue(30)
@maxValue(730)
param logRetentionDays int = 30

@description('Gigabytes of logs a day after which nothing more is taken until the next day; -1: no limit.')
@minValue(-1)
param logDailyQuotaGb int = -1

@description('Makes alert rules.')
param enableAlerts bool = true

@description('Whom the alert rules mail.')
param alertEmailAddresses string[] = []

@description('Action groups that the alert rules tell, beside the mails.')
param alertActionGroupResourceIds string[] = []

@description('How long the hub may be without a message until somebody is told; agents send a heartbeat every hour.')
@allowed([
  'PT6H'
  'PT12H'
  'P1D'
])
param alertSilenceWindow string = 'PT6H'

// ---------------------------------------------------------------------------------------------------------------

var suffix = take(uniqueString(resourceGroup().id, location, prefix), 11)
var storagePrefix = toLower(replace(prefix, '-', ''))
var contributorRoleId = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'

module identities 'modules/identities.bicep' = {
  name: '${prefix}-identities'
  params: {
    location: location
    prefix: prefix
    tags: tags
    withCapture: enableCapture
  }
}

module logs 'modules/logs.bicep' = {
  name: '${prefix}-logs'
  params: {
    location: location
    prefix: prefix
    tags: tags
    retentionDays: logRetentionDays
    dailyQuotaGb: logDailyQuotaGb
    publisherPrincipalId: identities.outputs.consumerPrincipalId
  }
}

module checkpointStorage 'modules/storage-checkpoints.bicep' = {
  name: '${prefix}-storage-checkpoints'
  params: {
    location: location
    accountName: '${storagePrefix}check${suffix}'
    tags: tags
    redundancy: checkpointRedundancy
    allowPublicNetworkAccess: allowPublicNetworkAccess
    allowedIpRanges: allowedIpRanges
    allowedSubnetResourceIds: allowedSubnetResourceIds
    workspaceResourceId: logs.outputs.workspaceResourceId
  }
}

module auditStorage 'modules/storage-audit.bicep' = {
  name: '${prefix}-storage-audit'
  params: {
    location: location
    accountName: '${storagePrefix}audit${suffix}'
    tags: tags
    redundancy: auditRedundancy
    retentionDays: auditRetentionDays
    policyLocked: auditPolicyLocked
    protectAccount: protectAuditAccount
    captureRetentionDays: captureRetentionDays
    allowPublicNetworkAccess: allowPublicNetworkAccess
    allowedIpRanges: allowedIpRanges
    allowedSubnetResourceIds: allowedSubnetResourceIds
    workspaceResourceId: logs.outputs.workspaceResourceId
  }
}

module captureRole 'modules/container-role.bicep' = if (enableCapture) {
  name: '${prefix}-capture-role'
  params: {
    storageAccountName: auditStorage.outputs.accountName
    containerName: auditStorage.outputs.captureContainerName
    principalId: identities.outputs.capturePrincipalId
    roleDefinitionGuid: contributorRoleId
    purpose: 'Event Hubs Capture writes its files'
  }
}

module eventHubs 'modules/event-hubs.bicep' = {
  name: '${prefix}-event-hubs'
  params: {
    location: location
    namespaceName: '${prefix}-events-${suffix}'
    tags: tags
    sku: eventHubsSku
    capacity: eventHubsCapacity
    maximumThroughputUnits: eventHubsMaximumThroughputUnits
    zoneRedundant: eventHubsZoneRedundant
    hubName: eventHubName
    consumerGroupName: consumerGroupName
    partitionCount: partitionCount
    retentionHours: retentionHours
    allowPublicNetworkAccess: allowPublicNetworkAccess
    allowedIpRanges: allowedIpRanges
    allowedSubnetResourceIds: allowedSubnetResourceIds
    captureIdentityResourceId: identities.outputs.captureResourceId
    captureStorageAccountResourceId: auditStorage.outputs.accountResourceId
    captureContainerName: auditStorage.outputs.captureContainerName
    workspaceResourceId: logs.outputs.workspaceResourceId
  }
  // A hub whose Capture may not write cannot be made.
  dependsOn: [
    captureRole
  ]
}

module hubRoles 'modules/hub-roles.bicep' = {
  name: '${prefix}-hub-roles'
  params: {
    namespaceName: eventHubs.outputs.namespaceName
    hubName: eventHubs.outputs.hubName
    agentPrincipalId: identities.outputs.agentPrincipalId
    consumerPrincipalId: identities.outputs.consumerPrincipalId
    senderPrincipalIds: senderPrincipalIds
  }
}

module checkpointRole 'modules/container-role.bicep' = {
  name: '${prefix}-checkpoint-role'
  params: {
    storageAccountName: checkpointStorage.outputs.accountName
    containerName: checkpointStorage.outputs.containerName
    principalId: identities.outputs.consumerPrincipalId
    roleDefinitionGuid: contributorRoleId
    purpose: 'The consumer and its scaler keep checkpoints'
  }
}

module appendRole 'modules/append-role.bicep' = if (auditWriteAccess == 'append') {
  name: '${prefix}-append-role'
  params: {
    roleName: 'Blob append only (${prefix} ${suffix})'
  }
}

module auditAppendRole 'modules/container-role.bicep' = if (auditWriteAccess == 'append') {
  name: '${prefix}-audit-append-role'
  params: {
    storageAccountName: auditStorage.outputs.accountName
    containerName: auditStorage.outputs.containerName
    principalId: identities.outputs.consumerPrincipalId
    roleDefinitionGuid: appendRole.?outputs.roleDefinitionGuid ?? ''
    purpose: 'The consumer appends to the trail'
  }
}

module auditContributorRole 'modules/container-role.bicep' = if (auditWriteAccess == 'contributor') {
  name: '${prefix}-audit-contributor-role'
  params: {
    storageAccountName: auditStorage.outputs.accountName
    containerName: auditStorage.outputs.containerName
    principalId: identities.outputs.consumerPrincipalId
    roleDefinitionGuid: contributorRoleId
    purpose: 'The consumer appends to the trail; the retention policy keeps what is there'
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Consumer

var deploysConsumer = !empty(consumerImage)
var deploysPostgres = trailStore == 'postgres'
var hasSigningVault = !empty(signingKeyVaultResourceId)
var postgresHost = deploysPostgres ? (postgres.?outputs.fullyQualifiedDomainName ?? '') : ''
// An anchor is a signed head: without a key there is none.
var anchorsTrail = auditWriteAccess != 'none' && (hasSigningVault || !empty(signingKey))
var archivesTrail = auditWriteAccess != 'none' && enableTrailArchive
var replicasMax = min(consumerReplicasMax, partitionCount)
// The scope of a module is evaluated even when the module is not deployed.
var registryIdParts = split(empty(containerRegistryResourceId) ? resourceGroup().id : containerRegistryResourceId, '/')

module registryRole 'modules/registry-role.bicep' = if (deploysConsumer && !empty(containerRegistryResourceId)) {
  scope: resourceGroup(registryIdParts[2], registryIdParts[4])
  name: '${prefix}-registry-role'
  params: {
    registryName: last(registryIdParts)
    principalId: identities.outputs.consumerPrincipalId
  }
}

var vaultIdParts = split(hasSigningVault ? signingKeyVaultResourceId : resourceGroup().id, '/')

module vaultRole 'modules/vault-role.bicep' = if (deploysConsumer && hasSigningVault) {
  scope: resourceGroup(vaultIdParts[2], vaultIdParts[4])
  name: '${prefix}-vault-role'
  params: {
    vaultName: last(vaultIdParts)
    secretNames: signingKeySecretNames
    principalId: identities.outputs.consumerPrincipalId
  }
}

module consumer 'modules/consumer.bicep' = if (deploysConsumer) {
  name: '${prefix}-consumer'
  params: {
    location: location
    prefix: prefix
    tags: tags
    image: consumerImage
    registryServer: empty(containerRegistryResourceId) ? '' : (registryRole.?outputs.loginServer ?? '')
    identityResourceId: identities.outputs.consumerResourceId
    identityClientId: identities.outputs.consumerClientId
    subnetResourceId: consumerSubnetResourceId
    workspaceResourceId: logs.outputs.workspaceResourceId
    fullyQualifiedNamespace: eventHubs.outputs.fullyQualifiedNamespace
    eventHubNamespaceName: eventHubs.outputs.namespaceName
    eventHubName: eventHubs.outputs.hubName
    consumerGroupName: eventHubs.outputs.consumerGroupName
    checkpointStorageAccountName: checkpointStorage.outputs.accountName
    checkpointContainerName: checkpointStorage.outputs.containerName
    checkpointContainerAddress: checkpointStorage.outputs.containerUrl
    postgresHost: postgresHost
    postgresDatabaseName: deploysPostgres ? (postgres.?outputs.databaseName ?? '') : ''
    postgresUserName: identities.outputs.consumerName
    // A file has one writer.
    minReplicas: deploysPostgres ? min(consumerReplicasMin, replicasMax) : 1
    maxReplicas: deploysPostgres ? replicasMax : 1
    signingVaultAddress: hasSigningVault ? (vaultRole.?outputs.address ?? '') : ''
    signingKeySecretNames: hasSigningVault ? signingKeySecretNames : []
    signingKey: signingKey
    noticeSlackUrl: noticeSlackUrl
    noticeTeamsWorkflowUrl: noticeTeamsWorkflowUrl
    anchorContainerAddress: anchorsTrail ? auditStorage.outputs.containerUrl : ''
    archiveContainerAddress: archivesTrail ? auditStorage.outputs.containerUrl : ''
  }
  dependsOn: [
    hubRoles
    checkpointRole
    auditAppendRole
    auditContributorRole
  ]
}

module postgres 'modules/postgres.bicep' = if (deploysPostgres) {
  name: '${prefix}-postgres'
  params: {
    location: location
    serverName: '${prefix}-trail-${suffix}'
    tags: tags
    skuName: postgresSkuName
    skuTier: postgresSkuTier
    storageGb: postgresStorageGb
    highlyAvailable: postgresHighlyAvailable
    backupRetentionDays: postgresBackupRetentionDays
    geoRedundantBackup: postgresGeoRedundantBackup
    allowPublicNetworkAccess: allowPublicNetworkAccess
    allowAzureServices: postgresAllowAzureServices
    administratorObjectId: postgresAdministratorObjectId
    administratorName: postgresAdministratorName
    administratorType: postgresAdministratorType
    workspaceResourceId: logs.outputs.workspaceResourceId
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Private endpoints

// What comes behind the first dot of a host name is the cloud's own.
func privateZone(host string) string => 'privatelink.${substring(host, indexOf(host, '.') + 1)}'

var hubZone = privateZone(eventHubs.outputs.fullyQualifiedNamespace)
var blobZone = 'privatelink.blob.${environment().suffixes.storage}'

module privateEndpoints 'modules/private-endpoints.bicep' = if (enablePrivateEndpoints) {
  name: '${prefix}-private-endpoints'
  params: {
    location: location
    tags: tags
    subnetResourceId: privateEndpointSubnetResourceId
    virtualNetworkResourceId: virtualNetworkResourceId
    createZones: createPrivateDnsZones
    zoneNames: concat([hubZone, blobZone], deploysPostgres ? [privateZone(postgresHost)] : [])
    endpoints: concat(
      [
        {
          name: '${prefix}-events'
          resourceId: eventHubs.outputs.namespaceResourceId
          groupId: 'namespace'
          zoneName: hubZone
        }
        {
          name: '${prefix}-checkpoints'
          resourceId: checkpointStorage.outputs.accountResourceId
          groupId: 'blob'
          zoneName: blobZone
        }
        {
          name: '${prefix}-audit'
          resourceId: auditStorage.outputs.accountResourceId
          groupId: 'blob'
          zoneName: blobZone
        }
      ],
      deploysPostgres
        ? [
            {
              name: '${prefix}-trail'
              resourceId: postgres.?outputs.serverResourceId ?? ''
              groupId: 'postgresqlServer'
              zoneName: privateZone(postgresHost)
            }
          ]
        : []
    )
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Alerts

// Four fifths of what Azure allows: 5,000 in a Standard namespace, 10,000 for each processing unit of a Premium one.
var connectionsMax = eventHubsSku == 'Standard' ? 4000 : 8000 * eventHubsCapacity

module alerts 'modules/alerts.bicep' = if (enableAlerts) {
  name: '${prefix}-alerts'
  params: {
    location: location
    prefix: prefix
    tags: tags
    emailAddresses: alertEmailAddresses
    actionGroupResourceIds: alertActionGroupResourceIds
    namespaceResourceId: eventHubs.outputs.namespaceResourceId
    connectionsMax: connectionsMax
    silenceWindow: alertSilenceWindow
    withCapture: enableCapture
    checkpointAccountResourceId: checkpointStorage.outputs.accountResourceId
    auditAccountResourceId: auditStorage.outputs.accountResourceId
    consumerResourceId: deploysConsumer ? (consumer.?outputs.appResourceId ?? '') : ''
    workspaceResourceId: logs.outputs.workspaceResourceId
  }
}

module auditWatch 'modules/audit-watch.bicep' = if (enableAlerts) {
  name: '${prefix}-audit-watch'
  params: {
    prefix: prefix
    tags: tags
    accountResourceId: auditStorage.outputs.accountResourceId
    actionGroupResourceIds: alerts.?outputs.actionGroupResourceIds ?? []
  }
}

// ---------------------------------------------------------------------------------------------------------------
// fleet and relay modules: begin
// Relay to Teams: bicep/README.md says how an agent is pointed at it.

@description('URL of the Teams workflow "Post to a channel when a webhook request is received"; empty: no relay is made.')
@secure()
param teamsWorkflowUrl string = ''

@description('Object ids of further identities that may send to the relay, beside the agents’ own: four at most.')
@maxLength(4)
param relayCallerPrincipalIds string[] = []

@description('Transitions that the relay posts: scheduled, updated, started, completed, canceled; all when empty.')
param relayTransitions ('scheduled' | 'updated' | 'started' | 'completed' | 'canceled')[] = []

@description('Event types that the relay posts, such as Reboot or Terminate; all when empty.')
param relayEventTypes string[] = []

@description('Lowest severity that the relay posts. That an event is over is INFO, whatever the event was.')
@allowed([
  'INFO'
  'WARN'
  'ERROR'
])
param relayMinimumSeverity string = 'INFO'

@description('Address ranges (CIDR) from which the relay takes records; any when empty. Every caller needs an allowed identity either way.')
param relayCallerIpRanges string[] = []

@description('Address ranges (CIDR) from which the relay’s run history can be read, by those who may; any when empty.')
param relayHistoryIpRanges string[] = []

var deploysRelay = !empty(teamsWorkflowUrl)

module relay 'modules/relay.bicep' = if (deploysRelay) {
  name: '${prefix}-relay'
  params: {
    location: location
    prefix: prefix
    tags: tags
    teamsWorkflowUrl: teamsWorkflowUrl
    callerPrincipalIds: concat([identities.outputs.agentPrincipalId], relayCallerPrincipalIds)
    transitions: relayTransitions
    eventTypes: relayEventTypes
    minimumSeverity: relayMinimumSeverity
    allowedCallerIpRanges: relayCallerIpRanges
    runHistoryReaderIpRanges: relayHistoryIpRanges
    enableAlerts: enableAlerts
    alertActionGroupResourceIds: enableAlerts ? (alerts.?outputs.actionGroupResourceIds ?? []) : []
    workspaceResourceId: logs.outputs.workspaceResourceId
  }
}

@description('PREVIEW: makes a hub of its own for what Azure itself says of Scheduled Events, Completed and Canceled included, and has Event Grid deliver it there. No released consumer reads it yet.')
param enableEventGridPreview bool = false

module eventGridPreview 'modules/event-grid-preview.bicep' = if (enableEventGridPreview) {
  name: '${prefix}-event-grid-preview'
  params: {
    prefix: prefix
    tags: tags
    namespaceName: eventHubs.outputs.namespaceName
  }
}

// fleet and relay modules: end
// ---------------------------------------------------------------------------------------------------------------
// Outputs: names and addresses for the next steps; never a secret

@description('Host name of the Event Hubs namespace.')
output eventHubsFullyQualifiedNamespace string = eventHubs.outputs.fullyQualifiedNamespace

@description('Name of the hub.')
output eventHubName string = eventHubs.outputs.hubName

@description('Name of the consumer group of the audit consumer.')
output consumerGroupName string = eventHubs.outputs.consumerGroupName

@description('Resource id of the identity of the agents: what a VM or scale set is given.')
output agentIdentityResourceId string = identities.outputs.agentResourceId

@description('Client id of the identity of the agents.')
output agentIdentityClientId string = identities.outputs.agentClientId

@description('Resource id of the identity of the consumer.')
output consumerIdentityResourceId string = identities.outputs.consumerResourceId

@description('Client id of the identity of the consumer.')
output consumerIdentityClientId string = identities.outputs.consumerClientId

@description('Name of the consumer’s Container App; empty when it was not deployed.')
output consumerAppName string = deploysConsumer ? (consumer.?outputs.appName ?? '') : ''

@description('Address of the container of the checkpoints.')
output checkpointContainerUrl string = checkpointStorage.outputs.containerUrl

@description('Name of the audit account.')
output auditStorageAccountName string = auditStorage.outputs.accountName

@description('Name of the container of the trail in the audit account.')
output auditContainerName string = auditStorage.outputs.containerName

@description('Address of the container of the trail.')
output auditContainerUrl string = auditStorage.outputs.containerUrl

@description('Resource id of the Log Analytics workspace.')
output workspaceResourceId string = logs.outputs.workspaceResourceId

@description('Address that takes records for the table ScheduledEvents_CL.')
output logsIngestionEndpoint string = logs.outputs.logsIngestionEndpoint

@description('Immutable id of the data collection rule that takes them.')
output dataCollectionRuleImmutableId string = logs.outputs.dataCollectionRuleImmutableId

@description('Name of the stream of that rule.')
output dataCollectionStreamName string = logs.outputs.streamName

@description('Name by which the consumer signs in to the database, for `pgaadauth_create_principal`.')
output consumerIdentityName string = identities.outputs.consumerName

@description('Host name of the PostgreSQL server; empty when it was not deployed.')
output postgresFullyQualifiedDomainName string = postgresHost

@description('Name of the database of the trail; empty when it was not deployed.')
output postgresDatabaseName string = deploysPostgres ? (postgres.?outputs.databaseName ?? '') : ''

@description('Name of the relay’s workflow; empty when it was not deployed.')
output relayWorkflowName string = deploysRelay ? (relay.?outputs.workflowName ?? '') : ''

@description('Address that the relay takes records at, for an allowed identity alone; empty when it was not deployed.')
output relaySinkUrl string = deploysRelay ? (relay.?outputs.sinkUrl ?? '') : ''

@description('Name of the hub of the Event Grid preview; empty when it was not deployed.')
output eventGridPreviewHubName string = enableEventGridPreview ? (eventGridPreview.?outputs.hubName ?? '') : ''

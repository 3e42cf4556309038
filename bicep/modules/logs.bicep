// The Log Analytics workspace: platform logs and metrics, and a table of our own with a rule that takes records for it.

@description('Azure region.')
param location string

@description('Start of the names.')
param prefix string

@description('Tags of workspace and rule.')
param tags object

@description('Days that logs are kept.')
@minValue(30)
@maxValue(730)
param retentionDays int

@description('Gigabytes a day after which the workspace takes nothing more until the next day; -1: no limit.')
@minValue(-1)
param dailyQuotaGb int

@description('Object id of the identity that may add to the table.')
param publisherPrincipalId string

var tableName = 'ScheduledEvents_CL'
var streamName = 'Custom-${tableName}'
var monitoringMetricsPublisherRoleId = '3913510d-42f4-4e42-8a64-420c390055eb'

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-02-01' = {
  name: '${prefix}-logs'
  location: location
  tags: tags
  properties: {
    sku: {
      name: 'PerGB2018'
    }
    retentionInDays: retentionDays
    workspaceCapping: {
      dailyQuotaGb: dailyQuotaGb
    }
    features: {
      enableLogAccessUsingOnlyResourcePermissions: true
      disableLocalAuth: true
    }
  }
}

// The columns are what a record of the bridge says first; Data holds the rest of it. Tables say dateTime, rules datetime.
resource table 'Microsoft.OperationalInsights/workspaces/tables@2025-02-01' = {
  parent: workspace
  name: tableName
  properties: {
    plan: 'Analytics'
    schema: {
      name: tableName
      columns: [
        {
          name: 'TimeGenerated'
          type: 'dateTime'
        }
        {
          name: 'RecordId'
          type: 'string'
        }
        {
          name: 'RecordSource'
          type: 'string'
        }
        {
          name: 'RecordType'
          type: 'string'
        }
        {
          name: 'RecordSubject'
          type: 'string'
        }
        {
          name: 'CorrelationId'
          type: 'string'
        }
        {
          name: 'RecordSequence'
          type: 'string'
        }
        {
          name: 'SeverityText'
          type: 'string'
        }
        {
          name: 'SeverityNumber'
          type: 'int'
        }
        {
          name: 'Data'
          type: 'dynamic'
        }
      ]
    }
  }
}

// Kind Direct has an endpoint of its own: no data collection endpoint is needed.
resource rule 'Microsoft.Insights/dataCollectionRules@2023-03-11' = {
  name: '${prefix}-records'
  location: location
  tags: tags
  kind: 'Direct'
  properties: {
    description: 'Takes records of Scheduled Events Bridge into ${tableName}.'
    streamDeclarations: {
      '${streamName}': {
        columns: [
          {
            name: 'TimeGenerated'
            type: 'datetime'
          }
          {
            name: 'RecordId'
            type: 'string'
          }
          {
            name: 'RecordSource'
            type: 'string'
          }
          {
            name: 'RecordType'
            type: 'string'
          }
          {
            name: 'RecordSubject'
            type: 'string'
          }
          {
            name: 'CorrelationId'
            type: 'string'
          }
          {
            name: 'RecordSequence'
            type: 'string'
          }
          {
            name: 'SeverityText'
            type: 'string'
          }
          {
            name: 'SeverityNumber'
            type: 'int'
          }
          {
            name: 'Data'
            type: 'dynamic'
          }
        ]
      }
    }
    destinations: {
      logAnalytics: [
        {
          name: 'workspace'
          workspaceResourceId: workspace.id
        }
      ]
    }
    dataFlows: [
      {
        streams: [
          streamName
        ]
        destinations: [
          'workspace'
        ]
        transformKql: 'source'
        outputStream: streamName
      }
    ]
  }
  dependsOn: [
    table
  ]
}

resource publisher 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: rule
  name: guid(rule.id, publisherPrincipalId, monitoringMetricsPublisherRoleId)
  properties: {
    principalId: publisherPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', monitoringMetricsPublisherRoleId)
    description: 'Adds records of Scheduled Events Bridge to the table'
  }
}

@description('Resource id of the workspace.')
output workspaceResourceId string = workspace.id

@description('Address that takes records for the table.')
output logsIngestionEndpoint string = rule.properties.endpoints.logsIngestion

@description('Immutable id of the data collection rule.')
output dataCollectionRuleImmutableId string = rule.properties.immutableId

@description('Name of the stream of the data collection rule.')
output streamName string = streamName

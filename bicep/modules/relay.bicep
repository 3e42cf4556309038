// A Logic App that takes records from the `logicapps` sink, and posts them to Teams as Adaptive Cards.
// Its definition is relay/workflow.json, which `npm run docs` makes from the bridge's own code.

@description('Azure region.')
param location string

@description('Start of the names.')
param prefix string

@description('Tags of the workflow and its alert rule.')
param tags object

@description('URL of the Teams workflow "Post to a channel when a webhook request is received". Whoever has it can post: it is a secret.')
@secure()
@minLength(1)
param teamsWorkflowUrl string

@description('Object ids of the identities that may send records: that of the agents. Azure takes five at most.')
@minLength(1)
@maxLength(5)
param callerPrincipalIds string[]

@description('Audience of the callers’ tokens: `audience` of the sink, whose default it is too. Empty: Azure Resource Manager of this cloud.')
param audience string = ''

@description('Address ranges (CIDR) from which records may come; any when empty.')
param allowedCallerIpRanges string[] = []

@description('Address ranges (CIDR) from which people with the right to do so may read the run history; any when empty.')
param runHistoryReaderIpRanges string[] = []

@description('Transitions that are posted; all when empty.')
param transitions ('scheduled' | 'updated' | 'started' | 'completed' | 'canceled')[] = []

@description('Event types that are posted, such as Reboot or Terminate, in any case; all when empty.')
param eventTypes string[] = []

@description('The lowest severity that is posted. That an event is over is INFO, whatever the event was.')
@allowed([
  'INFO'
  'WARN'
  'ERROR'
])
param minimumSeverity string = 'INFO'

@description('Makes the alert rule.')
param enableAlerts bool

@description('Action groups that are told when a run fails.')
param alertActionGroupResourceIds string[] = []

@description('Resource id of the Log Analytics workspace that gets the run history; none when empty.')
param workspaceResourceId string = ''

// As the records number them; OpenTelemetry’s numbers.
var severityNumbers = {
  INFO: 9
  WARN: 13
  ERROR: 17
}

// The types of version 2019-05-01 do not know this switch, which the service does: without it the URL with a signature
// lets in whoever has it, beside the identities. Source: learn.microsoft.com, "Secure access and data in Azure Logic Apps".
var withoutSignatures = {
  sasAuthenticationPolicy: {
    state: 'Disabled'
  }
}

var restrictedCallers = empty(allowedCallerIpRanges)
  ? {}
  : {
      allowedCallerIpAddresses: map(allowedCallerIpRanges, range => {
        addressRange: range
      })
    }

var restrictedReaders = empty(runHistoryReaderIpRanges)
  ? {}
  : {
      contents: {
        allowedCallerIpAddresses: map(runHistoryReaderIpRanges, range => {
          addressRange: range
        })
      }
    }

// Managed identities get tokens of version 1, whose issuer this is. A token for Resource Manager is to be had by every
// identity of the tenant, so that only `oid` tells who may send.
var callerPolicies = toObject(callerPrincipalIds, id => 'caller-${id}', id => {
  type: 'AAD'
  claims: [
    {
      name: 'iss'
      value: 'https://sts.windows.net/${tenant().tenantId}/'
    }
    {
      name: 'aud'
      value: empty(audience) ? environment().resourceManager : audience
    }
    {
      name: 'oid'
      value: id
    }
  ]
})

resource workflow 'Microsoft.Logic/workflows@2019-05-01' = {
  name: '${prefix}-relay'
  location: location
  tags: tags
  properties: {
    state: 'Enabled'
    definition: loadJsonContent('../relay/workflow.json')
    parameters: {
      teamsWorkflowUrl: {
        value: teamsWorkflowUrl
      }
      transitions: {
        value: transitions
      }
      eventTypes: {
        value: map(eventTypes, type => toLower(type))
      }
      minimumSeverityNumber: {
        value: severityNumbers[minimumSeverity]
      }
    }
    accessControl: any(
      union(
        {
          triggers: union(withoutSignatures, restrictedCallers, {
            openAuthenticationPolicies: {
              policies: callerPolicies
            }
          })
        },
        restrictedReaders
      )
    )
  }
}

resource runsFailed 'Microsoft.Insights/metricAlerts@2018-03-01' = if (enableAlerts) {
  name: '${prefix}-relay-failed'
  location: 'global'
  tags: tags
  properties: {
    description: 'Teams refused a card. The bridge keeps the record and tries again, unless Teams called the card itself wrong; see the run history and the URL of the Teams workflow.'
    severity: 2
    enabled: true
    scopes: [
      workflow.id
    ]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    autoMitigate: true
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'runs-failed'
          metricNamespace: 'Microsoft.Logic/workflows'
          metricName: 'RunsFailed'
          timeAggregation: 'Total'
          operator: 'GreaterThan'
          threshold: 0
        }
      ]
    }
    actions: map(alertActionGroupResourceIds, id => {
      actionGroupId: id
    })
  }
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!empty(workspaceResourceId)) {
  scope: workflow
  name: 'workspace'
  properties: {
    workspaceId: workspaceResourceId
    logs: [
      {
        category: 'WorkflowRuntime'
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

@description('Name of the workflow.')
output workflowName string = workflow.name

@description('Resource id of the workflow.')
output workflowResourceId string = workflow.id

@description('URL for the sink, with `auth: managedIdentity`. It carries no signature, so that it is no secret.')
output sinkUrl string = '${workflow.properties.accessEndpoint}/triggers/record/paths/invoke?api-version=2016-10-01'

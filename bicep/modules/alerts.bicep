// Who is told what: throttling, silence, errors, storage that fails, a consumer that is away or behind.

@description('Azure region of the query rule; metric rules are global.')
param location string

@description('Start of the names.')
param prefix string

@description('Tags of the rules.')
param tags object

@description('Whom to mail; nobody when empty.')
param emailAddresses string[]

@description('Action groups that are told as well.')
param actionGroupResourceIds string[]

@description('Resource id of the Event Hubs namespace.')
param namespaceResourceId string

@description('Connections beyond which somebody should add capacity.')
@minValue(1)
param connectionsMax int

@description('How long the hub may be without a message; agents send a heartbeat every hour.')
@allowed([
  'PT6H'
  'PT12H'
  'P1D'
])
param silenceWindow string

@description('Whether Capture is on.')
param withCapture bool

@description('Resource id of the checkpoint account.')
param checkpointAccountResourceId string

@description('Resource id of the audit account.')
param auditAccountResourceId string

@description('Resource id of the consumer; empty when it is not deployed here.')
param consumerResourceId string

@description('Resource id of the workspace that the metrics go to.')
param workspaceResourceId string

var hubMetrics = 'Microsoft.EventHub/namespaces'
var storageMetrics = 'Microsoft.Storage/storageAccounts'
var appMetrics = 'Microsoft.App/containerApps'

var hubRules = [
  {
    name: 'hub-throttled'
    description: 'The hub turned requests away for lack of throughput. Agents keep what they could not send; add units.'
    severity: 2
    scope: namespaceResourceId
    namespace: hubMetrics
    metric: 'ThrottledRequests'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 0
    window: 'PT15M'
    frequency: 'PT5M'
  }
  {
    name: 'hub-errors'
    description: 'The hub failed for reasons of its own.'
    severity: 2
    scope: namespaceResourceId
    namespace: hubMetrics
    metric: 'ServerErrors'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 10
    window: 'PT15M'
    frequency: 'PT5M'
  }
  {
    name: 'hub-quota'
    description: 'A limit of the namespace was reached: connections, size or throughput.'
    severity: 2
    scope: namespaceResourceId
    namespace: hubMetrics
    metric: 'QuotaExceededErrors'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 0
    window: 'PT15M'
    frequency: 'PT5M'
  }
  {
    name: 'hub-silent'
    description: 'No agent sent anything, not even a heartbeat: no agent runs, or none can reach the hub.'
    severity: 1
    scope: namespaceResourceId
    namespace: hubMetrics
    metric: 'IncomingMessages'
    aggregation: 'Total'
    operator: 'LessThan'
    threshold: 1
    window: silenceWindow
    frequency: 'PT1H'
  }
  {
    name: 'hub-connections'
    description: 'The namespace comes near the connections that its tier allows; beyond them agents are refused.'
    severity: 2
    scope: namespaceResourceId
    namespace: hubMetrics
    metric: 'ActiveConnections'
    aggregation: 'Maximum'
    operator: 'GreaterThan'
    threshold: connectionsMax
    window: 'PT15M'
    frequency: 'PT5M'
  }
]

var captureRules = [
  {
    name: 'capture-behind'
    description: 'Capture does not keep up: look at the role of its identity and at the audit account.'
    severity: 2
    scope: namespaceResourceId
    namespace: hubMetrics
    metric: 'CaptureBacklog'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 10000
    window: 'PT30M'
    frequency: 'PT15M'
  }
]

var storageRules = [
  {
    name: 'audit-storage-unavailable'
    description: 'The audit account does not answer as it should.'
    severity: 2
    scope: auditAccountResourceId
    namespace: storageMetrics
    metric: 'Availability'
    aggregation: 'Average'
    operator: 'LessThan'
    threshold: 99
    window: 'PT15M'
    frequency: 'PT5M'
  }
  {
    name: 'checkpoint-storage-unavailable'
    description: 'The checkpoint account does not answer as it should.'
    severity: 3
    scope: checkpointAccountResourceId
    namespace: storageMetrics
    metric: 'Availability'
    aggregation: 'Average'
    operator: 'LessThan'
    threshold: 99
    window: 'PT15M'
    frequency: 'PT5M'
  }
]

var consumerRules = [
  {
    name: 'consumer-away'
    description: 'No consumer runs: the hub keeps records for as long as its retention says, then they are lost to the trail.'
    severity: 1
    scope: consumerResourceId
    namespace: appMetrics
    metric: 'Replicas'
    aggregation: 'Maximum'
    operator: 'LessThan'
    threshold: 1
    window: 'PT15M'
    frequency: 'PT5M'
  }
  {
    name: 'consumer-restarts'
    description: 'The consumer was restarted again and again: its log says why.'
    severity: 2
    scope: consumerResourceId
    namespace: appMetrics
    metric: 'RestartCount'
    aggregation: 'Maximum'
    operator: 'GreaterThan'
    threshold: 3
    window: 'PT15M'
    frequency: 'PT5M'
  }
]

var rules = concat(
  hubRules,
  withCapture ? captureRules : [],
  storageRules,
  empty(consumerResourceId) ? [] : consumerRules
)

resource people 'Microsoft.Insights/actionGroups@2023-01-01' = if (!empty(emailAddresses)) {
  name: '${prefix}-people'
  location: 'global'
  tags: tags
  properties: {
    enabled: true
    // At most 12 characters.
    groupShortName: take('${prefix}-evt', 12)
    emailReceivers: [
      for (address, index) in emailAddresses: {
        name: 'mail-${index}'
        emailAddress: address
        useCommonAlertSchema: true
      }
    ]
  }
}

var actionGroups = concat(actionGroupResourceIds, empty(emailAddresses) ? [] : [people.id])

resource metricRules 'Microsoft.Insights/metricAlerts@2018-03-01' = [
  for rule in rules: {
    name: '${prefix}-${rule.name}'
    location: 'global'
    tags: tags
    properties: {
      description: rule.description
      severity: rule.severity
      enabled: true
      scopes: [
        rule.scope
      ]
      evaluationFrequency: rule.frequency
      windowSize: rule.window
      autoMitigate: true
      criteria: {
        'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
        allOf: [
          {
            criterionType: 'StaticThresholdCriterion'
            name: rule.name
            metricNamespace: rule.namespace
            metricName: rule.metric
            timeAggregation: rule.aggregation
            operator: rule.operator
            threshold: rule.threshold
            skipMetricValidation: true
          }
        ]
      }
      actions: map(actionGroups, id => {
        actionGroupId: id
      })
    }
  }
]

// No metric tells how far a consumer is behind on Standard: what went in is compared with what was read.
resource consumerBehind 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = {
  name: '${prefix}-consumer-behind'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: '${prefix}-consumer-behind'
    description: 'In two hours less than half of what the hub got was read by any consumer group.'
    severity: 2
    enabled: true
    scopes: [
      workspaceResourceId
    ]
    evaluationFrequency: 'PT1H'
    windowSize: 'PT2H'
    autoMitigate: true
    // The table is there once the first metric came in.
    skipQueryValidation: true
    criteria: {
      allOf: [
        {
          query: 'AzureMetrics | where ResourceId =~ "${namespaceResourceId}" | summarize Incoming = sumif(Total, MetricName == "IncomingMessages"), Outgoing = sumif(Total, MetricName == "OutgoingMessages") | where Incoming > 0 and Outgoing * 2 < Incoming'
          timeAggregation: 'Count'
          operator: 'GreaterThan'
          threshold: 0
          failingPeriods: {
            numberOfEvaluationPeriods: 1
            minFailingPeriodsToAlert: 1
          }
        }
      ]
    }
    actions: {
      actionGroups: actionGroups
    }
  }
}

@description('Resource ids of the action groups that are told.')
output actionGroupResourceIds string[] = actionGroups

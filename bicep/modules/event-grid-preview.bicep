// PREVIEW: lets Event Grid put what Azure itself says of Scheduled Events, Completed and Canceled included, into a hub of
// its own. Microsoft advises against it in production while it is a preview.
// It needs, once for the subscription: az feature register --namespace Microsoft.Compute --name SendScheduledEventsPolicy;
// and on each VM, scale set or availability set scheduledEventsPolicy with eventGridAndResourceGraph, which only the
// scale set module sets by itself. Source: learn.microsoft.com, "Scheduled Events in Event Grid and Resource Graph".

@description('Start of the names.')
param prefix string

@description('Tags of the system topic.')
param tags object

@description('Name of the Event Hubs namespace.')
param namespaceName string

@description('Name of the hub for these events; always made lower case. Not the agents’ hub: the consumer takes everything there for records.')
@minLength(1)
@maxLength(256)
param hubName string = 'scheduled-events-azure'

@description('Partitions of the hub.')
@minValue(1)
@maxValue(32)
param partitionCount int = 2

@description('How long the hub keeps the events, in hours; Standard keeps at most 168.')
@minValue(1)
@maxValue(2160)
param retentionHours int = 168

@description('Days for which Event Grid keeps the events that it cannot deliver.')
@minValue(1)
@maxValue(1)
param retryDays int = 1

var dataSenderRoleId = '2b629674-e913-4c01-ae53-ef4638d8f975'

resource namespace 'Microsoft.EventHub/namespaces@2024-01-01' existing = {
  name: namespaceName
}

resource hub 'Microsoft.EventHub/namespaces/eventhubs@2024-01-01' = {
  parent: namespace
  name: toLower(hubName)
  properties: {
    partitionCount: partitionCount
    retentionDescription: {
      cleanupPolicy: 'Delete'
      retentionTimeInHours: retentionHours
    }
  }
}

// A subscription has one topic of this kind: where there is one, subscribe to that instead of deploying this.
resource topic 'Microsoft.EventGrid/systemTopics@2025-02-15' = {
  name: '${prefix}-scheduled-events'
  location: 'global'
  tags: tags
  identity: {
    type: 'SystemAssigned'
  }
  properties: {
    source: subscription().id
    topicType: 'microsoft.resourcenotifications.maintenanceresources'
  }
}

resource topicSends 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: hub
  name: guid(hub.id, topic.id, dataSenderRoleId)
  properties: {
    principalId: topic.identity.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', dataSenderRoleId)
    description: 'Event Grid delivers what Azure says of Scheduled Events'
  }
}

resource delivery 'Microsoft.EventGrid/systemTopics/eventSubscriptions@2025-02-15' = {
  parent: topic
  name: 'hub'
  properties: {
    eventDeliverySchema: 'CloudEventSchemaV1_0'
    deliveryWithResourceIdentity: {
      identity: {
        type: 'SystemAssigned'
      }
      destination: {
        endpointType: 'EventHub'
        properties: {
          resourceId: hub.id
        }
      }
    }
    filter: {
      includedEventTypes: [
        'Microsoft.ResourceNotifications.MaintenanceResources.ScheduledEventEmitted'
      ]
    }
    retryPolicy: {
      eventTimeToLiveInMinutes: retryDays * 1440
      maxDeliveryAttempts: 30
    }
  }
  dependsOn: [
    topicSends
  ]
}

@description('Name of the hub that gets the events.')
output hubName string = hub.name

@description('Name of the system topic.')
output systemTopicName string = topic.name

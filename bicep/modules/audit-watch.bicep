// Tells people when somebody changes what protects the audit trail.

@description('Start of the name.')
param prefix string

@description('Tags of the rule.')
param tags object

@description('Resource id of the audit account.')
param accountResourceId string

@description('Action groups that are told.')
param actionGroupResourceIds string[]

resource protectionChanged 'Microsoft.Insights/activityLogAlerts@2020-10-01' = {
  name: '${prefix}-audit-protection-changed'
  location: 'global'
  tags: tags
  properties: {
    description: 'Somebody changed what protects the audit trail: a retention policy, the account, its roles, its lock, its log; or asked for its keys.'
    enabled: true
    scopes: [
      accountResourceId
    ]
    condition: {
      allOf: [
        {
          field: 'category'
          equals: 'Administrative'
        }
        {
          field: 'status'
          equals: 'Succeeded'
        }
        {
          field: 'operationName'
          containsAny: [
            'Microsoft.Storage/storageAccounts/blobServices/containers/immutabilityPolicies/write'
            'Microsoft.Storage/storageAccounts/blobServices/containers/immutabilityPolicies/delete'
            'Microsoft.Storage/storageAccounts/blobServices/containers/immutabilityPolicies/lock/action'
            'Microsoft.Storage/storageAccounts/blobServices/containers/immutabilityPolicies/extend/action'
            'Microsoft.Storage/storageAccounts/blobServices/containers/delete'
            'Microsoft.Storage/storageAccounts/write'
            'Microsoft.Storage/storageAccounts/delete'
            'Microsoft.Storage/storageAccounts/listKeys/action'
            'Microsoft.Authorization/roleAssignments/write'
            'Microsoft.Authorization/locks/delete'
            'Microsoft.Insights/diagnosticSettings/delete'
          ]
        }
      ]
    }
    actions: {
      actionGroups: map(actionGroupResourceIds, id => {
        actionGroupId: id
      })
    }
  }
}

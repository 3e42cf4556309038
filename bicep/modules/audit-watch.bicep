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
    description: 'Somebody changed what protects the audit trail: a retention policy, the account, its roles, its lock; or asked for its keys.'
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
          anyOf: [
            {
              field: 'operationName'
              equals: 'Microsoft.Storage/storageAccounts/blobServices/containers/immutabilityPolicies/write'
            }
            {
              field: 'operationName'
              equals: 'Microsoft.Storage/storageAccounts/blobServices/containers/immutabilityPolicies/delete'
            }
            {
              field: 'operationName'
              equals: 'Microsoft.Storage/storageAccounts/blobServices/containers/immutabilityPolicies/lock/action'
            }
            {
              field: 'operationName'
              equals: 'Microsoft.Storage/storageAccounts/blobServices/containers/immutabilityPolicies/extend/action'
            }
            {
              field: 'operationName'
              equals: 'Microsoft.Storage/storageAccounts/blobServices/containers/delete'
            }
            {
              field: 'operationName'
              equals: 'Microsoft.Storage/storageAccounts/write'
            }
            {
              field: 'operationName'
              equals: 'Microsoft.Storage/storageAccounts/delete'
            }
            {
              field: 'operationName'
              equals: 'Microsoft.Storage/storageAccounts/listKeys/action'
            }
            {
              field: 'operationName'
              equals: 'Microsoft.Authorization/roleAssignments/write'
            }
            {
              field: 'operationName'
              equals: 'Microsoft.Authorization/locks/delete'
            }
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

// Keeps the agent on every tagged Linux VM of a subscription: a policy that puts the VM application where it is missing.
// az deployment sub create --location REGION --template-file bicep/install-policy.bicep --parameters …
targetScope = 'subscription'

@description('Region of the deployment and of the identity of the policy’s assignment.')
param location string

@description('Start of every name.')
@minLength(2)
@maxLength(12)
param prefix string = 'seb'

@description('Resource id of the version of the VM application: output `applicationVersionResourceId` of fleet.bicep. Another version here is an upgrade of the fleet.')
@minLength(1)
param applicationVersionResourceId string

@description('Name of the tag that selects VMs.')
@minLength(1)
param tagName string = 'scheduled-events-bridge'

@description('Value that the tag must have.')
@minLength(1)
param tagValue string = 'install'

@description('What happens to a tagged VM without the application. Begin with AuditIfNotExists to see which VMs that would be.')
@allowed([
  'DeployIfNotExists'
  'AuditIfNotExists'
  'Disabled'
])
param effect string = 'AuditIfNotExists'

@description('Whether tagged scale sets whose model lacks the application are reported, too. They are never changed.')
param reportScaleSets bool = true

@description('Resource ids of resource groups and VMs that the policy leaves alone.')
param excludedScopes string[] = []

var virtualMachineContributorRoleId = '9980e02c-c2be-4d73-94e8-173b1dc7cf3c'
// Policies name roles without a subscription.
var virtualMachineContributor = '/providers/Microsoft.Authorization/roleDefinitions/${virtualMachineContributorRoleId}'
// …/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/galleries/NAME/applications/APP/versions/V
var versionIdParts = split(applicationVersionResourceId, '/')

var tagParameters = {
  tagName: {
    type: 'String'
    metadata: {
      displayName: 'Name of the tag'
      description: 'Only what has this tag is looked at.'
    }
  }
  tagValue: {
    type: 'String'
    metadata: {
      displayName: 'Value of the tag'
      description: 'Only what has the tag with this value is looked at.'
    }
  }
  applicationVersionId: {
    type: 'String'
    metadata: {
      displayName: 'Version of the VM application'
      description: 'Resource id of the version that must be there.'
    }
  }
}

var isTagged = {
  field: '[concat(\'tags[\', parameters(\'tagName\'), \']\')]'
  equals: '[parameters(\'tagValue\')]'
}

resource onVms 'Microsoft.Authorization/policyDefinitions@2025-01-01' = {
  name: '${prefix}-install-on-vms'
  properties: {
    displayName: 'Scheduled Events Bridge: install the agent on tagged Linux VMs'
    description: 'Puts the VM application scheduled-events-bridge on Linux VMs with a tag, those of flexible scale sets included.'
    policyType: 'Custom'
    mode: 'Indexed'
    metadata: {
      category: 'Compute'
      version: '1.0.0'
    }
    parameters: union(tagParameters, {
      effect: {
        type: 'String'
        allowedValues: [
          'DeployIfNotExists'
          'AuditIfNotExists'
          'Disabled'
        ]
        defaultValue: 'AuditIfNotExists'
        metadata: {
          displayName: 'Effect'
          description: 'What happens to a VM without the application.'
        }
      }
    })
    policyRule: {
      if: {
        allOf: [
          {
            field: 'type'
            equals: 'Microsoft.Compute/virtualMachines'
          }
          {
            field: 'Microsoft.Compute/virtualMachines/storageProfile.osDisk.osType'
            equals: 'Linux'
          }
          isTagged
        ]
      }
      then: {
        effect: '[parameters(\'effect\')]'
        details: {
          type: 'Microsoft.Compute/virtualMachines'
          name: '[field(\'name\')]'
          evaluationDelay: 'AfterProvisioningSuccess'
          roleDefinitionIds: [
            virtualMachineContributor
          ]
          existenceCondition: {
            count: {
              field: 'Microsoft.Compute/virtualMachines/applicationProfile.galleryApplications[*]'
              where: {
                field: 'Microsoft.Compute/virtualMachines/applicationProfile.galleryApplications[*].packageReferenceId'
                equals: '[parameters(\'applicationVersionId\')]'
              }
            }
            greater: 0
          }
          deployment: {
            properties: {
              mode: 'incremental'
              // A resource of its own beneath the VM: writing the list in the VM's model instead would take others away.
              template: loadJsonContent('policy/application-of-vm.json')
              parameters: {
                vmName: {
                  value: '[field(\'name\')]'
                }
                location: {
                  value: '[field(\'location\')]'
                }
                applicationVersionId: {
                  value: '[parameters(\'applicationVersionId\')]'
                }
              }
            }
          }
        }
      }
    }
  }
}

// The applications of a scale set stand in its model, as a list: putting one there by policy would mean to write the model
// of somebody else's scale set anew, and do nothing for its instances until they are upgraded. So this one only tells.
// Instances of flexible scale sets are VMs, and get theirs from the policy above.
resource onScaleSets 'Microsoft.Authorization/policyDefinitions@2025-01-01' = if (reportScaleSets) {
  name: '${prefix}-audit-scale-sets'
  properties: {
    displayName: 'Scheduled Events Bridge: tagged scale sets have the agent in their model'
    description: 'Finds scale sets with a tag whose model lacks the VM application scheduled-events-bridge.'
    policyType: 'Custom'
    mode: 'Indexed'
    metadata: {
      category: 'Compute'
      version: '1.0.0'
    }
    parameters: tagParameters
    policyRule: {
      if: {
        allOf: [
          {
            field: 'type'
            equals: 'Microsoft.Compute/virtualMachineScaleSets'
          }
          isTagged
        ]
      }
      then: {
        effect: 'auditIfNotExists'
        details: {
          type: 'Microsoft.Compute/virtualMachineScaleSets'
          name: '[field(\'name\')]'
          existenceCondition: {
            count: {
              field: 'Microsoft.Compute/virtualMachineScaleSets/virtualMachineProfile.applicationProfile.galleryApplications[*]'
              where: {
                field: 'Microsoft.Compute/virtualMachineScaleSets/virtualMachineProfile.applicationProfile.galleryApplications[*].packageReferenceId'
                equals: '[parameters(\'applicationVersionId\')]'
              }
            }
            greater: 0
          }
        }
      }
    }
  }
}

var assigned = {
  tagName: {
    value: tagName
  }
  tagValue: {
    value: tagValue
  }
  applicationVersionId: {
    value: applicationVersionResourceId
  }
}

resource installs 'Microsoft.Authorization/policyAssignments@2025-01-01' = {
  name: '${prefix}-install'
  location: location
  identity: {
    type: 'SystemAssigned'
  }
  properties: {
    displayName: 'Scheduled Events Bridge: install the agent'
    policyDefinitionId: onVms.id
    notScopes: excludedScopes
    parameters: union(assigned, {
      effect: {
        value: effect
      }
    })
    nonComplianceMessages: [
      {
        message: 'The VM is tagged for Scheduled Events Bridge and does not have this version of its application.'
      }
    ]
  }
}

resource audits 'Microsoft.Authorization/policyAssignments@2025-01-01' = if (reportScaleSets) {
  name: '${prefix}-audit-sets'
  properties: {
    displayName: 'Scheduled Events Bridge: scale sets have the agent in their model'
    policyDefinitionId: onScaleSets.id
    notScopes: excludedScopes
    parameters: assigned
    nonComplianceMessages: [
      {
        message: 'The scale set is tagged for Scheduled Events Bridge, and its model lacks this version of the application.'
      }
    ]
  }
}

module installerWrites 'modules/installer-role.bicep' = {
  name: '${prefix}-install-writes-vms'
  params: {
    principalId: installs.identity.principalId
    roleDefinitionGuid: virtualMachineContributorRoleId
  }
}

module installerReads 'modules/gallery-reader.bicep' = {
  scope: resourceGroup(versionIdParts[2], versionIdParts[4])
  name: '${prefix}-install-reads-gallery'
  params: {
    galleryName: versionIdParts[8]
    principalId: installs.identity.principalId
  }
}

@description('Name of the assignment, for `az policy remediation create --policy-assignment`: VMs that are there already get the application by a remediation task.')
output assignmentName string = installs.name

@description('Resource id of the assignment.')
output assignmentResourceId string = installs.id

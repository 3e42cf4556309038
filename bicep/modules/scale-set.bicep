// A scale set whose instances run the agent: it is told before an instance is deleted, and before its disk is replaced.
// Flexible orchestration: its instances are ordinary VMs, so that each record carries the id of a VM, the install policy
// counts them, and Azure recommends it for new scale sets. Which of both it is cannot be changed later.

@description('Azure region.')
param location string

@description('Name of the scale set.')
param name string

@description('Tags of the scale set and its instances.')
param tags object

@description('Number of instances.')
@minValue(0)
@maxValue(1000)
param instanceCount int

@description('Size of the instances. Azure does not announce new OS images to the sizes G, M, N and H.')
param vmSize string

@description('Availability zones; none where the region has none.')
param zones string[]

@description('Subnet of the instances.')
param subnetResourceId string

@description('The identity that the agents sign in with.')
param agentIdentityResourceId string

@description('Name of the administrator.')
param adminUsername string

@description('Public SSH key of the administrator; there is no password.')
@minLength(1)
param sshPublicKeyData string

@description('Image. Its version stays `latest`, as automatic upgrades need it.')
param image {
  publisher: string
  offer: string
  sku: string
}

@description('Cloud-init text that brings the agent; empty where something else does.')
@secure()
param cloudInit string

@description('Resource id of a version of the VM application that brings the agent; empty where something else does.')
param applicationVersionResourceId string

@description('Regular, or Spot: cheaper, taken away after 30 seconds, and never told of its own deletion, which Azure refuses for Spot.')
@allowed([
  'Regular'
  'Spot'
])
param priority string

@description('How long Azure waits between the notice of a deletion and the deletion: PT5M to PT15M.')
@minLength(4)
@maxLength(5)
param terminateNotice string

@description('Whether Azure replaces the OS disks when a new image is out, some instances at a time, with 15 minutes of notice.')
param enableAutomaticOsUpgrade bool

@description('Whether restarts and redeployments that a user asks for go ahead at once: Azure then announces nothing.')
param approveUserActions bool

@description('PREVIEW: has Azure publish the events to Event Grid and Resource Graph, too.')
param publishToEventGrid bool

@description('Encrypts caches and temporary disks on the host; the subscription must have the feature EncryptionAtHost.')
param encryptionAtHost bool

@description('Resource id of a version of an access control profile for the metadata service; empty: none.')
param imdsAccessControlVersionResourceId string

var isSpot = priority == 'Spot'

resource scaleSet 'Microsoft.Compute/virtualMachineScaleSets@2025-04-01' = {
  name: name
  location: location
  tags: tags
  sku: {
    name: vmSize
    capacity: instanceCount
  }
  zones: empty(zones) ? null : zones
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${agentIdentityResourceId}': {}
    }
  }
  properties: {
    orchestrationMode: 'Flexible'
    platformFaultDomainCount: 1
    singlePlacementGroup: false
    upgradePolicy: {
      // A changed model reaches the instances that are there by itself, as long as the agents stay ready.
      mode: 'Rolling'
      rollingUpgradePolicy: {
        maxBatchInstancePercent: 20
        maxUnhealthyInstancePercent: 20
        maxUnhealthyUpgradedInstancePercent: 20
        pauseTimeBetweenBatches: 'PT1M'
        prioritizeUnhealthyInstances: true
      }
      automaticOSUpgradePolicy: {
        enableAutomaticOSUpgrade: enableAutomaticOsUpgrade
        disableAutomaticRollback: false
      }
    }
    scheduledEventsPolicy: {
      userInitiatedReboot: {
        automaticallyApprove: approveUserActions
      }
      userInitiatedRedeploy: {
        automaticallyApprove: approveUserActions
      }
      scheduledEventsAdditionalPublishingTargets: publishToEventGrid
        ? {
            eventGridAndResourceGraph: {
              enable: true
              scheduledEventsApiVersion: '2020-07-01'
            }
          }
        : null
    }
    virtualMachineProfile: {
      priority: priority
      evictionPolicy: isSpot ? 'Delete' : null
      osProfile: {
        computerNamePrefix: take(name, 9)
        adminUsername: adminUsername
        customData: empty(cloudInit) ? null : base64(cloudInit)
        linuxConfiguration: {
          disablePasswordAuthentication: true
          provisionVMAgent: true
          ssh: {
            publicKeys: [
              {
                path: '/home/${adminUsername}/.ssh/authorized_keys'
                keyData: sshPublicKeyData
              }
            ]
          }
        }
      }
      storageProfile: {
        imageReference: {
          publisher: image.publisher
          offer: image.offer
          sku: image.sku
          version: 'latest'
        }
        osDisk: {
          createOption: 'FromImage'
          caching: 'ReadWrite'
          deleteOption: 'Delete'
          managedDisk: {
            storageAccountType: 'StandardSSD_LRS'
          }
        }
      }
      networkProfile: {
        networkApiVersion: '2022-11-01'
        networkInterfaceConfigurations: [
          {
            name: 'primary'
            properties: {
              primary: true
              deleteOption: 'Delete'
              ipConfigurations: [
                {
                  name: 'private'
                  properties: {
                    primary: true
                    subnet: {
                      id: subnetResourceId
                    }
                  }
                }
              ]
            }
          }
        ]
      }
      securityProfile: {
        securityType: 'TrustedLaunch'
        uefiSettings: {
          secureBootEnabled: true
          vTpmEnabled: true
        }
        encryptionAtHost: encryptionAtHost
        // The profile says itself whether it only audits; `mode` beside it is refused.
        proxyAgentSettings: empty(imdsAccessControlVersionResourceId)
          ? null
          : {
              enabled: true
              addProxyAgentExtension: true
              imds: {
                inVMAccessControlProfileReferenceId: imdsAccessControlVersionResourceId
              }
              wireServer: {
                mode: 'Audit'
              }
            }
      }
      diagnosticsProfile: {
        bootDiagnostics: {
          enabled: true
        }
      }
      scheduledEventsProfile: {
        terminateNotificationProfile: {
          enable: !isSpot
          notBeforeTimeout: terminateNotice
        }
        osImageNotificationProfile: {
          enable: true
          notBeforeTimeout: 'PT15M'
        }
      }
      extensionProfile: {
        extensions: [
          {
            name: 'health'
            properties: {
              publisher: 'Microsoft.ManagedServices'
              type: 'ApplicationHealthLinux'
              typeHandlerVersion: '1.0'
              autoUpgradeMinorVersion: true
              // The extension asks from within the VM, so that the page may stay on loopback.
              settings: {
                protocol: 'http'
                port: 9464
                requestPath: '/readyz'
              }
            }
          }
        ]
      }
      applicationProfile: empty(applicationVersionResourceId)
        ? null
        : {
            galleryApplications: [
              {
                packageReferenceId: applicationVersionResourceId
                order: 1
                enableAutomaticUpgrade: false
                // Otherwise Azure reports success whatever the installation came to.
                treatFailureAsDeploymentFailure: true
              }
            ]
          }
    }
  }
}

@description('Name of the scale set.')
output scaleSetName string = scaleSet.name

@description('Resource id of the scale set.')
output scaleSetResourceId string = scaleSet.id

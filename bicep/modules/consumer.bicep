// The consumer as a Container App: one replica with the trail in a file, or several that share one in PostgreSQL, scaled by the hub's backlog.

@description('Azure region.')
param location string

@description('Start of the names.')
param prefix string

@description('Tags of environment and app.')
param tags object

@description('Image by digest.')
param image string

@description('Login server of the registry that the identity pulls from; empty for a public one.')
param registryServer string

@description('Resource id of the identity of the consumer.')
param identityResourceId string

@description('Client id of that identity.')
param identityClientId string

@description('Subnet of the environment; empty: a network of Azure’s own.')
param subnetResourceId string

@description('Resource id of the Log Analytics workspace for what the consumer logs.')
param workspaceResourceId string

@description('Host name of the Event Hubs namespace.')
param fullyQualifiedNamespace string

@description('Name of the Event Hubs namespace.')
param eventHubNamespaceName string

@description('Name of the hub, lower case.')
param eventHubName string

@description('Name of the consumer group, lower case.')
param consumerGroupName string

@description('Storage account of the checkpoints.')
param checkpointStorageAccountName string

@description('Container of the checkpoints.')
param checkpointContainerName string

@description('Address of that container.')
param checkpointContainerAddress string

@description('Host name of the PostgreSQL server with the trail; empty: the trail is a file of one replica.')
param postgresHost string

@description('Database of the trail.')
param postgresDatabaseName string

@description('Name by which the identity signs in to the database.')
param postgresUserName string

@description('Fewest replicas: the audit must not wait for a scaler.')
@minValue(1)
@maxValue(32)
param minReplicas int

@description('Most replicas: 1 while the trail is a file, and never more than there are partitions.')
@minValue(1)
@maxValue(32)
param maxReplicas int

@description('Address of the key vault with the signing keys; empty: there is none.')
param signingVaultAddress string

@description('Secrets of that vault that hold a signing key each. The first is the one that counts, the others sign as well.')
param signingKeySecretNames string[]

@description('A signing key, as `seb audit keygen` writes it, without a vault; empty: none.')
@secure()
param signingKey string

@description('URL of a Slack webhook for notices of the whole fleet; empty: none.')
@secure()
param noticeSlackUrl string

@description('URL of a Teams workflow for notices of the whole fleet; empty: none.')
@secure()
param noticeTeamsWorkflowUrl string

@description('Address of the container that the heads of the trail are anchored in; empty: nowhere.')
param anchorContainerAddress string

@description('Address of the container that the log is copied to; empty: nowhere.')
param archiveContainerAddress string

var statusPort = 9465
var configurationSecretName = 'consumer-configuration'
var databaseSecretName = 'trail-address'
var configurationFolder = '/etc/scheduled-events-bridge'
var stateFolder = '/var/lib/scheduled-events-bridge'
// Secrets come in files that everybody in the container may read; a key in one of them is refused, unless it lies below
// the folder that the image keeps for its user alone.
var guardedFolder = '/keys/consumer'
var hasSubnet = !empty(subnetResourceId)
// As KEDA spells the clouds that this template can run in.
var scalerClouds = {
  AzureCloud: 'AzurePublicCloud'
  AzureUSGovernment: 'AzureUSGovernmentCloud'
  AzureChinaCloud: 'AzureChinaCloud'
}
var isShared = !empty(postgresHost)
var vaultKeys = [
  for name in signingKeySecretNames: {
    name: 'signing-key-${toLower(name)}'
    keyVaultUrl: '${signingVaultAddress}secrets/${name}'
    identity: identityResourceId
  }
]
var givenKeys = empty(signingKey)
  ? []
  : [
      {
        name: 'signing-key'
        value: signingKey
      }
    ]
var keyNames = concat(
  map(signingKeySecretNames, name => 'signing-key-${toLower(name)}'),
  empty(signingKey) ? [] : ['signing-key']
)
// The types of the sinks, which are their names as well.
var noticeSinks = concat(empty(noticeSlackUrl) ? [] : ['slack'], empty(noticeTeamsWorkflowUrl) ? [] : ['teams'])
var noticeSecrets = concat(
  empty(noticeSlackUrl)
    ? []
    : [
        {
          name: 'notice-slack'
          value: noticeSlackUrl
        }
      ],
  empty(noticeTeamsWorkflowUrl)
    ? []
    : [
        {
          name: 'notice-teams'
          value: noticeTeamsWorkflowUrl
        }
      ]
)
var guardedNames = concat(
  isShared ? [databaseSecretName] : [],
  keyNames,
  map(noticeSinks, sink => 'notice-${sink}')
)
var keyFiles = map(keyNames, name => '${guardedFolder}/${name}')
var trail = isShared
  ? {
      type: 'postgres'
      url: {
        file: '${guardedFolder}/${databaseSecretName}'
      }
      identity: true
      clientId: identityClientId
    }
  : {
      type: 'sqlite'
      path: '${stateFolder}/trail.db'
    }
// JSON is YAML: this is the whole consumer.yaml. It holds no secret; a secret is how an app gets a file.
var configuration = union(
  {
    hub: {
      fullyQualifiedNamespace: fullyQualifiedNamespace
      eventHubName: eventHubName
      consumerGroup: consumerGroupName
      clientId: identityClientId
    }
    trail: trail
    status: {
      listen: '0.0.0.0:${statusPort}'
    }
  },
  isShared
    ? {
        checkpoints: {
          type: 'blob'
          containerUrl: checkpointContainerAddress
          clientId: identityClientId
        }
      }
    : {},
  empty(keyFiles)
    ? {}
    : {
        signing: {
          keyFile: keyFiles[0]
          alsoKeyFiles: skip(keyFiles, 1)
        }
      },
  empty(noticeSinks)
    ? {}
    : {
        notify: {
          // What waits lies in the container and ends with it; the journal of the trail says what was told.
          stateDir: '${stateFolder}/notify'
          sinks: toObject(noticeSinks, sink => sink, sink => {
            type: sink
            url: {
              file: '${guardedFolder}/notice-${sink}'
            }
          })
        }
      },
  empty(anchorContainerAddress)
    ? {}
    : {
        anchors: [
          {
            type: 'blob'
            containerUrl: anchorContainerAddress
            clientId: identityClientId
          }
        ]
      },
  empty(archiveContainerAddress)
    ? {}
    : {
        archive: {
          type: 'blob'
          containerUrl: archiveContainerAddress
          clientId: identityClientId
        }
      }
)

resource managedEnvironment 'Microsoft.App/managedEnvironments@2025-01-01' = {
  name: '${prefix}-environment'
  location: location
  tags: tags
  properties: {
    // Through a diagnostic setting: the other way needs the workspace's key.
    appLogsConfiguration: {
      destination: 'azure-monitor'
    }
    vnetConfiguration: hasSubnet
      ? {
          infrastructureSubnetId: subnetResourceId
          internal: true
        }
      : null
    zoneRedundant: hasSubnet && maxReplicas > 1
    workloadProfiles: [
      {
        name: 'Consumption'
        workloadProfileType: 'Consumption'
      }
    ]
  }
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: managedEnvironment
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

resource app 'Microsoft.App/containerApps@2025-01-01' = {
  name: '${prefix}-consumer'
  location: location
  tags: tags
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${identityResourceId}': {}
    }
  }
  properties: {
    environmentId: managedEnvironment.id
    workloadProfileName: 'Consumption'
    configuration: {
      activeRevisionsMode: 'Single'
      registries: empty(registryServer)
        ? []
        : [
            {
              server: registryServer
              identity: identityResourceId
            }
          ]
      secrets: concat(
        [
          {
            name: configurationSecretName
            // Names and addresses: nothing that must be kept.
            #disable-next-line use-secure-value-for-secure-inputs
            value: string(configuration)
          }
        ],
        isShared
          ? [
              {
                name: databaseSecretName
                // Without a password: the identity signs in.
                #disable-next-line use-secure-value-for-secure-inputs
                value: 'postgres://${postgresUserName}@${postgresHost}:5432/${postgresDatabaseName}'
              }
            ]
          : [],
        vaultKeys,
        givenKeys,
        noticeSecrets
      )
    }
    template: {
      // The consumer commits what it took before it goes.
      terminationGracePeriodSeconds: 60
      containers: [
        {
          name: 'consumer'
          image: image
          args: [
            'consumer'
          ]
          env: [
            {
              // One kind of sign-in, not a search through all of them.
              name: 'AZURE_TOKEN_CREDENTIALS'
              value: 'ManagedIdentityCredential'
            }
            {
              // A changed secret alone makes no new revision, and restarts nothing.
              name: 'CONFIGURATION_VERSION'
              value: uniqueString(string(configuration))
            }
          ]
          resources: {
            cpu: json('0.5')
            memory: '1Gi'
          }
          probes: [
            {
              type: 'Liveness'
              httpGet: {
                path: '/healthz'
                port: statusPort
              }
              initialDelaySeconds: 10
              periodSeconds: 10
              timeoutSeconds: 5
              failureThreshold: 6
            }
            {
              type: 'Readiness'
              httpGet: {
                path: '/readyz'
                port: statusPort
              }
              periodSeconds: 10
              timeoutSeconds: 5
              failureThreshold: 3
            }
          ]
          volumeMounts: concat(
            [
              {
                volumeName: 'configuration'
                mountPath: configurationFolder
              }
            ],
            empty(guardedNames)
              ? []
              : [
                  {
                    volumeName: 'guarded'
                    mountPath: guardedFolder
                  }
                ],
            isShared
              ? []
              : [
                  {
                    volumeName: 'state'
                    mountPath: stateFolder
                  }
                ]
          )
        }
      ]
      scale: {
        minReplicas: minReplicas
        maxReplicas: maxReplicas
        rules: maxReplicas == 1
          ? []
          : [
              {
                name: 'hub-backlog'
                custom: {
                  type: 'azure-eventhub'
                  identity: identityResourceId
                  metadata: {
                    eventHubNamespace: eventHubNamespaceName
                    eventHubName: eventHubName
                    consumerGroup: consumerGroupName
                    storageAccountName: checkpointStorageAccountName
                    blobContainer: checkpointContainerName
                    checkpointStrategy: 'blobMetadata'
                    unprocessedEventThreshold: '64'
                    cloud: scalerClouds[environment().name]
                  }
                }
              }
            ]
      }
      volumes: concat(
        [
          {
            name: 'configuration'
            storageType: 'Secret'
            secrets: [
              {
                secretRef: configurationSecretName
                path: 'consumer.yaml'
              }
            ]
          }
        ],
        empty(guardedNames)
          ? []
          : [
              {
                name: 'guarded'
                storageType: 'Secret'
                secrets: map(guardedNames, name => {
                  secretRef: name
                  path: name
                })
              }
            ],
        isShared
          ? []
          : [
              {
                // Ends with the replica. A file share is no place for SQLite's write-ahead log.
                name: 'state'
                storageType: 'EmptyDir'
              }
            ]
      )
    }
  }
}

@description('Resource id of the app.')
output appResourceId string = app.id

@description('Name of the app.')
output appName string = app.name

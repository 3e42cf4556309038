// What is known of Azure from outside and must not drift in the files: versions of its APIs, ids of its roles.

/**
 * The one version of each API that the files use: stable and old enough to be in sovereign clouds, too.
 * Only diagnostic settings have no stable version that knows groups of categories.
 */
export const apiVersions: Readonly<Record<string, string>> = {
  'Microsoft.App': '2025-01-01',
  'Microsoft.Authorization/locks': '2020-05-01',
  'Microsoft.Authorization/policyAssignments': '2025-01-01',
  'Microsoft.Authorization/policyDefinitions': '2025-01-01',
  'Microsoft.Authorization/roleAssignments': '2022-04-01',
  'Microsoft.Authorization/roleDefinitions': '2022-04-01',
  'Microsoft.Compute/availabilitySets': '2025-04-01',
  'Microsoft.Compute/galleries': '2024-03-03',
  'Microsoft.Compute/virtualMachineScaleSets': '2025-04-01',
  'Microsoft.Compute/virtualMachines': '2025-04-01',
  'Microsoft.ContainerRegistry/registries': '2025-04-01',
  'Microsoft.DBforPostgreSQL/flexibleServers': '2024-08-01',
  'Microsoft.EventGrid/systemTopics': '2025-02-15',
  'Microsoft.EventHub/namespaces': '2024-01-01',
  'Microsoft.Insights/actionGroups': '2023-01-01',
  'Microsoft.Insights/activityLogAlerts': '2020-10-01',
  'Microsoft.Insights/dataCollectionRules': '2023-03-11',
  'Microsoft.Insights/diagnosticSettings': '2021-05-01-preview',
  'Microsoft.Insights/metricAlerts': '2018-03-01',
  'Microsoft.Insights/scheduledQueryRules': '2023-12-01',
  'Microsoft.KeyVault/vaults': '2024-11-01',
  'Microsoft.Logic/workflows': '2019-05-01',
  'Microsoft.ManagedIdentity/userAssignedIdentities': '2024-11-30',
  'Microsoft.Network/natGateways': '2024-05-01',
  'Microsoft.Network/networkSecurityGroups': '2024-05-01',
  'Microsoft.Network/privateDnsZones': '2024-06-01',
  'Microsoft.Network/privateEndpoints': '2024-05-01',
  'Microsoft.Network/publicIPAddresses': '2024-05-01',
  'Microsoft.Network/virtualNetworks': '2024-05-01',
  'Microsoft.OperationalInsights/workspaces': '2025-02-01',
  'Microsoft.Storage/storageAccounts': '2025-06-01',
};

/** Built-in roles by id, each with the variable that may hold it. */
export const roleVariables: Readonly<Record<string, string>> = {
  '2b629674-e913-4c01-ae53-ef4638d8f975': 'dataSenderRoleId',
  'a638d3c7-ab3a-418d-83e6-5f17a39d4fde': 'dataReceiverRoleId',
  'ba92f5b4-2d11-453d-a403-e96b0029c9fe': 'contributorRoleId',
  '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1': 'readerRoleId',
  '3913510d-42f4-4e42-8a64-420c390055eb': 'monitoringMetricsPublisherRoleId',
  '7f951dda-4ed3-4680-a7ca-43fe172d538d': 'acrPullRoleId',
  '4633458b-17de-408a-b874-0445c86b69e6': 'keyVaultSecretsUserRoleId',
  '9980e02c-c2be-4d73-94e8-173b1dc7cf3c': 'virtualMachineContributorRoleId',
  'acdd72a7-3385-48ef-bd42-f606fba81ae7': 'azureReaderRoleId',
};

/** The API version of a resource type, by the longest entry that it begins with. */
export function apiVersionOf(type: string): string | undefined {
  const entry = Object.keys(apiVersions)
    .filter((each) => type === each || type.startsWith(`${each}/`))
    .toSorted((a, b) => b.length - a.length)[0];
  return entry === undefined ? undefined : apiVersions[entry];
}

// Faults of how the files fit together, to be planted in copies: each must be found.
import { mainPath } from './project.ts';
import { moduleNamed } from './requirement.ts';

const [audit, hubs] = [moduleNamed('storage-audit'), moduleNamed('event-hubs')];

/** What is done, to which file, from which words to which, and what must be said of it. */
export type Planted = readonly [what: string, path: string, from: string, to: string, says: RegExp];

export const plantedWiring: readonly Planted[] = [
  ['a bracket too few', hubs, 'properties: {\n    disable', 'properties:\n    disable', /cannot be read/],
  [
    'two properties in one line',
    audit,
    "kind: 'StorageV2'\n",
    "kind: 'StorageV2' foo: 1\n",
    /without a comma/,
  ],
  [
    'a property that is there twice',
    audit,
    "kind: 'StorageV2'\n",
    "kind: 'StorageV2'\n  kind: 'a'\n",
    /kind is there twice/,
  ],
  ['a spread', hubs, '    kafkaEnabled: false\n', '    ...sku\n', /cannot (?:be )?read/],
  ['a typed variable', hubs, 'var isStandard =', 'var isStandard bool =', /typed variable|cannot be read/],
  [
    'a symbol that is not there',
    mainPath,
    'retentionHours: retentionHours',
    'retentionHours: retentionDays',
    /called retentionDays/,
  ],
  [
    'a symbol in a text that is not there',
    mainPath,
    '{prefix}-identities',
    '{prefx}-identities',
    /called prefx/,
  ],
  ['a function that is not there', mainPath, 'take(uniqueString(', 'takes(uniqueString(', /called takes/],
  [
    'a function in a list that is not there',
    mainPath,
    '[privateZone(postgresHost)]',
    '[privatZone(postgresHost)]',
    /called privatZone/,
  ],
  ['a loop variable that is not there', hubs, 'ipMask: range', 'ipMask: ranges', /called ranges/],
  [
    'a parameter that nobody uses',
    mainPath,
    "@description('Makes alert rules.')",
    "@description('Is not used.')\nparam idle bool = true\n\n@description('Makes alert rules.')",
    /idle is never used/,
  ],
  [
    'a variable that nobody uses',
    hubs,
    'var isStandard =',
    'var idle = 1\nvar isStandard =',
    /idle is never used/,
  ],
  [
    'a module whose file is not there',
    mainPath,
    "'modules/hub-roles.bicep'",
    "'modules/hub-role.bicep'",
    /there is no bicep\/modules\/hub-role/,
  ],
  [
    'a module parameter by a wrong name',
    mainPath,
    'sku: eventHubsSku',
    'tier: eventHubsSku',
    /has no parameter tier/,
  ],
  [
    'a module parameter that is missing',
    mainPath,
    '    sku: eventHubsSku\n',
    '',
    /eventHubs: sku is missing/,
  ],
  [
    'a module parameter that was renamed in its module',
    moduleNamed('container-role'),
    'param purpose string',
    'param reason string',
    /has no parameter purpose/,
  ],
  [
    'a module parameter of a wrong kind',
    mainPath,
    'capacity: eventHubsCapacity',
    "capacity: '1'",
    /capacity takes int, not string/,
  ],
  [
    'a parameter of another type handed on',
    mainPath,
    'capacity: eventHubsCapacity',
    'capacity: eventHubName',
    /capacity takes int, not string/,
  ],
  [
    'any string handed on where a few are allowed',
    mainPath,
    'sku: eventHubsSku',
    'sku: eventHubName',
    /sku takes only Standard, Premium/,
  ],
  [
    'an output that the module does not have',
    mainPath,
    'logs.outputs.streamName',
    'logs.outputs.stream',
    /logs has no output stream/,
  ],
  [
    'an output that was renamed in its module',
    moduleNamed('identities'),
    'output consumerClientId',
    'output consumerId',
    /identities has no output consumerClientId/,
  ],
  [
    'an output that is declared twice',
    mainPath,
    'output auditContainerName',
    'output eventHubName',
    /eventHubName is declared twice/,
  ],
];

const production = 'bicep/examples/production.bicepparam';
export const plantedParameters: readonly Planted[] = [
  [
    'an example parameter by a wrong name',
    production,
    'param partitionCount =',
    'param partitions =',
    /no parameter partitions/,
  ],
  [
    'an example parameter of a wrong kind',
    production,
    'param partitionCount = 16',
    "param partitionCount = '16'",
    /takes int/,
  ],
  [
    'an example parameter out of range',
    production,
    'param partitionCount = 16',
    'param partitionCount = 64',
    /cannot be 64/,
  ],
  [
    'an example parameter that is not allowed',
    production,
    "'Standard_GZRS'",
    "'Premium_LRS'",
    /cannot be Premium_LRS/,
  ],
  [
    'an example that is too long',
    production,
    "param prefix = 'seb'",
    "param prefix = 'scheduled'",
    /9 characters/,
  ],
  [
    'an example of a template that is not there',
    production,
    '../main.bicep',
    '../mean.bicep',
    /uses no template/,
  ],
  [
    'a default that is not allowed',
    mainPath,
    "param trailStore string = 'sqlite'",
    "param trailStore string = 'files'",
    /cannot be files/,
  ],
];

// Whether the checks of the Bicep files see anything: each fault is planted in a copy, and must be reported.
import { describe, expect, it } from 'vitest';
import { allFaults } from './support/faults.ts';
import { propertyOf } from './support/grammar.ts';
import { declarationsIn, mainPath, readProject } from './support/project.ts';
import { wiringFaults } from './support/wiring.ts';

const project = readProject();
const moduleNamed = (name: string): string => `bicep/modules/${name}.bicep`;
const [audit, checkpoints, hubs, consumer] = [
  moduleNamed('storage-audit'),
  moduleNamed('storage-checkpoints'),
  moduleNamed('event-hubs'),
  moduleNamed('consumer'),
];

/** What is done, to which file, from which words to which, and what must be said of it. */
type Planted = readonly [what: string, path: string, from: string, to: string, says: RegExp];

const wiring: readonly Planted[] = [
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
const parameters: readonly Planted[] = [
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

const conventions: readonly Planted[] = [
  [
    'a parameter without a description',
    mainPath,
    "@description('Makes alert rules.')\n",
    '',
    /enableAlerts is not described/,
  ],
  [
    'an output without a description',
    mainPath,
    "@description('Name of the hub.')\n",
    '',
    /eventHubName is not described/,
  ],
  [
    'an open password',
    moduleNamed('postgres'),
    'param administratorName string',
    'param administratorPassword string',
    /must be @secure/,
  ],
  [
    'a secret with a default',
    mainPath,
    "@description('Makes alert rules.')",
    "@description('A secret.')\n@secure()\nparam hookUrl string = 'x'\n\n@description('Makes alert rules.')",
    /hookUrl has a default/,
  ],
  [
    'a secret in an output',
    mainPath,
    "@description('Makes alert rules.')",
    "@description('A secret.')\n@secure()\nparam hookUrl string\n\n@description('It.')\noutput hook string = hookUrl\n\n@description('Makes alert rules.')",
    /hook hands out a secret/,
  ],
  [
    'a key in an output',
    checkpoints,
    'string = account.name',
    'string = account.listKeys().keys[0].value',
    /asks Azure for a key/,
  ],
  [
    'another version of an API',
    hubs,
    'namespaces@2024-01-01',
    'namespaces@2026-01-01',
    /in version 2026-01-01/,
  ],
  ['a resource without tags', hubs, '  tags: tags\n', '', /namespace has no tags/],
  [
    'a role by a wrong id',
    moduleNamed('hub-roles'),
    '2b629674-',
    'f526a384-',
    /is not the role of dataSenderRoleId/,
  ],
  [
    'a stronger role under the right name',
    moduleNamed('hub-roles'),
    "'2b629674-e913-4c01-ae53-ef4638d8f975'",
    "'f526a384-b230-433a-b45c-95f59c4a2dec'",
    /is not the role of/,
  ],
  [
    'a host name of the public cloud',
    mainPath,
    "'privatelink.blob.$",
    "'blob.core.windows.net$",
    /only the public cloud/,
  ],
];

const hardening: readonly Planted[] = [
  [
    'keys that open the audit account',
    audit,
    'allowSharedKeyAccess: false',
    'allowSharedKeyAccess: true',
    /account: properties.allowSharedKeyAccess/,
  ],
  [
    'keys that open the checkpoint account',
    checkpoints,
    '    allowSharedKeyAccess: false\n',
    '',
    /account: properties.allowSharedKeyAccess/,
  ],
  [
    'public blobs',
    audit,
    'allowBlobPublicAccess: false',
    'allowBlobPublicAccess: true',
    /allowBlobPublicAccess/,
  ],
  ['an old TLS', checkpoints, "'TLS1_2'", "'TLS1_0'", /minimumTlsVersion/],
  [
    'an open network',
    audit,
    "isRestricted ? 'Deny' : 'Allow'",
    "isRestricted ? 'Allow' : 'Allow'",
    /defaultAction/,
  ],
  [
    'versions of checkpoints',
    checkpoints,
    'isVersioningEnabled: false',
    'isVersioningEnabled: true',
    /isVersioningEnabled/,
  ],
  [
    'a trail that cannot be appended to',
    audit,
    'allowProtectedAppendWrites: true',
    'allowProtectedAppendWrites: false',
    /allowProtectedAppendWrites/,
  ],
  [
    'a locked policy that is written again',
    audit,
    'if (!policyLocked)',
    'if (true)',
    /retention is deployed if/,
  ],
  [
    'keys that open the namespace',
    hubs,
    'disableLocalAuth: true',
    'disableLocalAuth: false',
    /disableLocalAuth/,
  ],
  ['a hub in upper case', hubs, 'toLower(hubName)', 'hubName', /hub: name is "Scheduled-Events"/],
  [
    'a group in upper case',
    hubs,
    'toLower(consumerGroupName)',
    'consumerGroupName',
    /consumerGroup: name is "Audit"/,
  ],
  [
    'growth that Premium does not know',
    hubs,
    'isStandard && maximumThroughputUnits',
    'maximumThroughputUnits',
    /isAutoInflateEnabled/,
  ],
  [
    'a Capture that is made before its role',
    mainPath,
    "module captureRole 'modules/container-role.bicep' = if (enableCapture)",
    "module captureRole 'modules/container-role.bicep' = if (false)",
    /captureRole is deployed if/,
  ],
  [
    'senders to the whole namespace',
    moduleNamed('hub-roles'),
    '  scope: hub\n',
    '  scope: namespace\n',
    /stands on more than the hub/,
  ],
  ['a writer that can delete', moduleNamed('append-role'), 'blobs/add/action', 'blobs/delete', /dataActions/],
  [
    'a scaler without its identity',
    consumer,
    '                  identity: identityResourceId\n',
    '',
    /scale.rules.0.custom.identity/,
  ],
  ['a scaler with another strategy', consumer, "'blobMetadata'", "'goSdk'", /checkpointStrategy/],
  ['a consumer that scales to nothing', consumer, 'minReplicas: 1', 'minReplicas: 0', /minReplicas/],
  ['a probe of a page that is not there', consumer, "'/healthz'", "'/livez'", /httpGet/],
  [
    'a stop without time for the last commit',
    consumer,
    'terminationGracePeriodSeconds: 60',
    'terminationGracePeriodSeconds: 5',
    /terminationGracePeriodSeconds/,
  ],
  [
    'passwords for the database',
    moduleNamed('postgres'),
    "passwordAuth: 'Disabled'",
    "passwordAuth: 'Enabled'",
    /passwordAuth/,
  ],
  [
    'a rule that needs an endpoint',
    moduleNamed('logs'),
    "kind: 'Direct'",
    "kind: 'Linux'",
    /kind is "Linux"/,
  ],
];

describe('a planted fault', () => {
  it.each([...wiring, ...parameters, ...conventions, ...hardening])(
    'is found: %s',
    (_, path, from, to, says) => {
      const text = project.get(path) ?? '';
      expect(text, 'the words to change stand in the file').toContain(from);
      const found = allFaults(new Map([...project, [path, text.replace(from, () => to)]]));
      expect(found).toContainEqual(expect.stringMatching(says));
    },
  );

  it('is found in each parameter of each module', () => {
    const text = project.get(mainPath) ?? '';
    const given = declarationsIn(project, mainPath).modules.flatMap(({ name, value }) =>
      (propertyOf(value, 'params')?.namedChildren ?? []).flatMap((property) => {
        const [key] = property.namedChildren;
        return property.type === 'object_property' && key !== undefined ? [{ module: name, key }] : [];
      }),
    );
    const renamed = given.reduceRight(
      (changed, { key }) => `${changed.slice(0, key.endIndex)}Wrong${changed.slice(key.endIndex)}`,
      text,
    );
    const found = wiringFaults(new Map([...project, [mainPath, renamed]])).map(({ says }) => says);
    expect(given.length).toBeGreaterThan(80);
    const unseen = given.filter(
      ({ module, key }) =>
        !found.some(
          (says) => says.startsWith(`${module}: `) && says.endsWith(` has no parameter ${key.text}Wrong`),
        ),
    );
    expect(unseen.map(({ module, key }) => `${module}.${key.text}`)).toEqual([]);
  });
});

// The settings of what the consumer keeps: the trail, who signs it, where it is anchored and copied, who shares it.
import * as z from 'zod';
import { duration } from './duration.ts';
import { type Secret, secret, secretFile } from './secret.ts';

/** Where the trail is when nobody says otherwise. */
export const defaultTrailPath = '/var/lib/scheduled-events-bridge/trail.db';

/** How a container of blobs is named, in every setting that means one. */
const containerFields = {
  containerUrl: z
    .url({ protocol: /^https?$/ })
    // This setting is shown: a signature in it would be, too.
    .refine((url) => !/[?#@]/.test(url), 'Leave out what gives access: this takes an address and an identity')
    .optional()
    .describe(
      'Address of the container, such as `https://ACCOUNT.blob.core.windows.net/CONTAINER`, used with the identity of this machine.',
    ),
  connectionString: secret()
    .optional()
    .describe('Connection string of the storage account, instead of an identity.'),
  container: z
    .string()
    .regex(
      /^[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9])){2,62}$/,
      'Expected the name of a container: 3 to 63 of a-z, 0-9 and -',
    )
    .optional()
    .describe('Name of the container, beside `connectionString`.'),
  clientId: z
    .string()
    .min(1)
    .optional()
    .describe('Client id of a user-assigned managed identity; the machine’s own identity when not given.'),
};

type Kinds = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Says what a kind needs, and what it does not know. @param kinds the settings of each kind, the needed ones marked `!` */
function belongsTo(kinds: Readonly<Record<string, readonly string[]>>) {
  const all = new Set(Object.values(kinds).flatMap((names) => names.map((name) => name.replace('!', ''))));
  return (settings: Kinds, context: z.RefinementCtx): void => {
    const names = kinds[settings.type] ?? [];
    for (const name of all) {
      const isGiven = settings[name] !== undefined;
      const message =
        isGiven && !names.some((known) => known.replace('!', '') === name)
          ? `Does not belong to type ${settings.type}`
          : !isGiven && names.includes(`${name}!`)
            ? `Must be given with type ${settings.type}`
            : null;
      if (message !== null) context.addIssue({ code: 'custom', path: [name], message });
    }
    if (names.includes('containerUrl')) requireContainer(settings, context);
  };
}

function requireContainer(
  { containerUrl, connectionString, container }: Kinds,
  context: z.RefinementCtx,
): void {
  const byIdentity = containerUrl !== undefined && connectionString === undefined && container === undefined;
  const byString = containerUrl === undefined && connectionString !== undefined && container !== undefined;
  if (byIdentity || byString) return;
  context.addIssue({
    code: 'custom',
    message: 'Give either containerUrl, or connectionString and container',
  });
}

const containerNames = ['containerUrl', 'connectionString', 'container', 'clientId'];

export const checkpoints = z
  .strictObject({
    type: z
      .enum(['trail', 'blob'])
      .default('trail')
      .describe(
        '`trail`: one consumer, which reads every partition. `blob`: several consumers share the partitions through blobs. The position of each partition is kept with the data either way, in the trail itself.',
      ),
    ...containerFields,
  })
  .superRefine(belongsTo({ trail: [], blob: containerNames }))
  .prefault({})
  .describe('How partitions are shared out.');

/** Where a trail is kept. */
export type TrailSettings =
  | { readonly type: 'sqlite'; readonly path: string }
  | {
      readonly type: 'postgres';
      readonly url: Secret;
      readonly identity: boolean;
      readonly clientId?: string;
      readonly caFile?: string;
    };

interface TrailGiven {
  readonly type: 'sqlite' | 'postgres';
  readonly path?: string | undefined;
  readonly url?: Secret | undefined;
  readonly identity?: boolean | undefined;
  readonly clientId?: string | undefined;
  readonly caFile?: string | undefined;
}

function trailOf({ type, path, url, identity = false, clientId, caFile }: TrailGiven): TrailSettings {
  if (type === 'sqlite' || url === undefined) return { type: 'sqlite', path: path ?? defaultTrailPath };
  const optional = {
    ...(clientId === undefined ? {} : { clientId }),
    ...(caFile === undefined ? {} : { caFile }),
  };
  return { type, url, identity, ...optional };
}

export const trail = z
  .strictObject({
    type: z
      .enum(['sqlite', 'postgres'])
      .default('sqlite')
      .describe('`sqlite`: one file, written by one consumer. `postgres`: a database that several share.'),
    path: z
      .string()
      .min(1)
      .optional()
      .describe(`The SQLite file; it is made on the first start. Default \`${defaultTrailPath}\`.`),
    url: secret()
      .optional()
      .describe('`postgres://USER:PASSWORD@HOST:PORT/DATABASE`; without a password, `identity` signs in.'),
    identity: z
      .boolean()
      .optional()
      .describe(
        'Whether to sign in to PostgreSQL with a token of this machine’s identity instead of a password.',
      ),
    clientId: z
      .string()
      .min(1)
      .optional()
      .describe('Client id of a user-assigned managed identity for `identity`.'),
    caFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        'PEM file of the authority that PostgreSQL’s certificate is checked with, instead of the usual ones.',
      ),
  })
  .superRefine(belongsTo({ sqlite: ['path'], postgres: ['url!', 'identity', 'clientId', 'caFile'] }))
  .transform(trailOf)
  .prefault({})
  .describe('The audit trail of the whole fleet.');

export const signing = z
  .strictObject({
    keyFile: secretFile().describe(
      'File of the key that signs, as `seb audit keygen` writes it: its path, or `{ credential: NAME }`.',
    ),
    alsoKeyFiles: z
      .array(secretFile())
      .max(15)
      .default([])
      .describe('Files of more keys that sign as well: the one before, while verifiers learn the new one.'),
  })
  .optional()
  .describe(
    'Who signs the heads of the trail. Without this setting the trail cannot prove that it is whole.',
  );

const anchor = z
  .strictObject({
    type: z
      .enum(['file', 'blob', 'webhook'])
      .describe(
        '`file`: lines added to a file, on another disk. `blob`: an append blob, in a container whose policy lets nothing be changed. `webhook`: whatever keeps it.',
      ),
    path: z.string().min(1).optional().describe('The file.'),
    ...containerFields,
    url: secret().optional().describe('Address that each head is posted to.'),
    allowHttp: z
      .boolean()
      .optional()
      .describe('Whether the address may be plain HTTP, or of this machine; for trying out.'),
    interval: duration({ default: '10m', min: '1s', max: '1d' }).describe(
      'How often the head goes there, when it changed.',
    ),
  })
  .superRefine(belongsTo({ file: ['path!'], blob: containerNames, webhook: ['url!', 'allowHttp'] }));

export const anchors = z
  .array(anchor)
  .max(8)
  .default([])
  .describe('Where the head of the trail is kept out of reach of whoever can change the trail.');

export const archive = z
  .strictObject({
    type: z
      .enum(['folder', 'blob'])
      .describe('`folder`: files of JSON Lines. `blob`: append blobs of JSON Lines.'),
    path: z.string().min(1).optional().describe('The folder.'),
    ...containerFields,
    interval: duration({ default: '1m', min: '100ms', max: '1h' }).describe(
      'How often what is new is copied.',
    ),
  })
  .superRefine(belongsTo({ folder: ['path!'], blob: containerNames }))
  .optional()
  .describe('A copy of the log and its proofs in plain files, which `seb audit verify` reads as well.');

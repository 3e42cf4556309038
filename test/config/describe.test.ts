// Whether every setting is listed, and whether what a file comes to can be shown without its secrets.
import { expect, it, describe as suite } from 'vitest';
import * as z from 'zod';
import { describe, settingsMarkdown } from '../../src/config/describe.ts';
import { duration, size } from '../../src/config/duration.ts';
import { effectiveSettings } from '../../src/config/effective.ts';
import { jsonSchemaOf } from '../../src/config/json-schema.ts';
import { secret } from '../../src/config/secret.ts';

const sink = z.discriminatedUnion('type', [
  z.strictObject({
    url: secret().describe('Where to POST.'),
    type: z.literal('webhook'),
    headers: z.record(z.string(), secret()).prefault({}),
    secrets: z.array(secret()).prefault([]),
    timeout: duration({ default: '5s', min: '1s', max: '1m' }).describe('Time | allowed.'),
  }),
  z.strictObject({ type: z.literal('stdout').describe('Prints.') }),
]);

const schema = jsonSchemaOf(
  z.strictObject({
    stateDir: z.string().default('/var/lib/x').describe('Directory.'),
    retries: z.int().min(1).default(3),
    log: z
      .strictObject({ level: z.enum(['info', 'warn']).default('info') })
      .prefault({})
      .describe('The log.'),
    sinks: z.record(z.string(), sink).prefault({}),
    sizeMax: size({ default: '1MiB', min: '64KiB', max: '1GiB' }),
    places: z
      .array(z.strictObject({ path: z.string().describe('The file.'), keys: z.array(secret()) }))
      .default([]),
  }),
);

suite('the list of settings', () => {
  const [file, webhook, stdout, ...others] = describe('x.yaml', schema);
  const row = (key: string) =>
    [...(file?.rows ?? []), ...(webhook?.rows ?? [])].find((each) => each.key === key);

  it('has one table for the file and one for each kind of sink', () => {
    expect(others).toEqual([]);
    expect(file?.title).toBe('`x.yaml`');
    expect(webhook?.title).toBe('`sinks.<name>`, type: `webhook`');
    expect(stdout).toMatchObject({ description: 'Prints.', rows: [{ key: 'sinks.<name>.type' }] });
  });

  it('has a row for every setting in the words of a person who writes the file', () => {
    expect(file?.rows.map(({ key }) => key)).toEqual([
      'stateDir',
      'retries',
      'log',
      'log.level',
      'sinks',
      'sinks.<name>',
      'sizeMax',
      'places',
      'places[].path',
      'places[].keys',
    ]);
    expect(row('places[].path')).toMatchObject({ type: 'string', required: true, description: 'The file.' });
    expect(row('stateDir')).toMatchObject({
      type: 'string',
      default: '/var/lib/x',
      description: 'Directory.',
    });
    expect(row('sizeMax')).toMatchObject({ type: 'size, 64KiB to 1GiB', default: '1MiB' });
    expect(row('retries')).toMatchObject({ type: 'integer, from 1', default: '3' });
    expect(row('log.level')).toMatchObject({ type: '`info`, `warn`', default: 'info' });
    expect(row('sinks.<name>')).toMatchObject({ type: 'one of the types webhook, stdout' });
    expect(row('sinks.<name>.timeout')).toMatchObject({ type: 'duration, 1s to 1m', required: false });
  });

  it('marks what must be given and what is secret', () => {
    expect(row('sinks.<name>.url')).toMatchObject({ type: 'secret', required: true, secret: true });
    expect(row('sinks.<name>.headers')).toMatchObject({ type: 'names with secrets' });
    expect(row('sinks.<name>.secrets')).toMatchObject({ type: 'list of secrets' });
  });

  it('begins each kind with its type', () => {
    expect(webhook?.rows[0]).toMatchObject({ key: 'sinks.<name>.type', type: 'always `webhook`' });
  });

  it('becomes Markdown whose tables no text can break', () => {
    const text = settingsMarkdown(describe('x.yaml', schema));
    expect(text).toContain('| `sinks.<name>.timeout` | duration, 1s to 1m | `5s` | Time \\| allowed. |\n');
    expect(text).toContain('| `sinks.<name>.url` | secret | required | Where to POST. |\n');
  });
});

suite('the effective settings', () => {
  const marker = 'MARKER-OF-A-SECRET';

  it('complete what is written with every default, in the same units', () => {
    expect(effectiveSettings(schema, { sinks: { hook: { type: 'webhook', url: { env: 'HOOK' } } } })).toEqual(
      {
        stateDir: '/var/lib/x',
        retries: 3,
        log: { level: 'info' },
        sinks: { hook: { type: 'webhook', url: { env: 'HOOK' }, headers: {}, secrets: [], timeout: '5s' } },
        sizeMax: '1MiB',
      },
    );
  });

  it('hide every secret that stands in the file and keep the place of the others', () => {
    const written = {
      sinks: {
        a: {
          type: 'webhook',
          url: `https://x/${marker}`,
          headers: { Authorization: marker },
          secrets: [marker],
        },
        b: { type: 'webhook', url: { file: '/run/url' } },
      },
    };
    const shown = effectiveSettings(schema, written);
    expect(JSON.stringify(shown)).not.toContain(marker);
    expect(shown).toMatchObject({
      sinks: {
        a: { url: '***', headers: { Authorization: '***' }, secrets: ['***'] },
        b: { url: { file: '/run/url' } },
      },
    });
  });
});

// The webhook sink with a body of the user's own making.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { agentSchema } from '../../../src/config/agent.ts';
import { ConfigurationError, parseConfiguration } from '../../../src/config/load.ts';
import { outgoing, sampleLife, sampleRecord } from '../../support/records.ts';
import { sinkSettings } from '../../support/sink-kinds.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { keepsTheHttpContract } from '../http-contract.ts';
import { openPair } from '../http-subject.ts';
import { patience } from '../sink-contract.ts';

const template = {
  summary: '{{ data.event.eventType }} {{ data.transition | upper }} on {{ data.observer.vmName }}',
  severity: '{{ severitynumber }}',
  vms: '{{ data.event.resources }}',
};

keepsTheHttpContract({
  type: 'webhook',
  settings: { template },
  bodyOf: ({ record }) =>
    JSON.stringify({
      summary: 'Freeze SCHEDULED on WestNO_0',
      severity: record.severitynumber,
      vms: ['WestNO_0', 'WestNO_1'],
    }),
});

/** The faults of a configuration file whose webhook has these settings. */
function faultsOf(settings: object): readonly string[] {
  const sinks = { hook: { type: 'webhook', url: { env: 'HOOK' }, ...settings } };
  try {
    parseConfiguration(JSON.stringify({ sinks }), 'agent.yaml', agentSchema(sinkSettings));
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
}

describe('a webhook with a template', () => {
  it.each([
    [undefined, 'application/json'],
    ['application/vnd.pagerduty+json;version=2', 'application/vnd.pagerduty+json;version=2'],
  ])('sends its body as JSON, or as what contentType says: %s', async (contentType, expected) => {
    await using pair = await openPair({
      type: 'webhook',
      settings: { template, ...(contentType === undefined ? {} : { contentType }) },
    });
    await pair.send();
    expect(pair.inbox.requests[0]?.headers).toMatchObject({
      'content-type': expected,
      'webhook-id': expect.stringMatching(/_scheduled_/),
    });
  });

  it('says every phase of an event', async () => {
    await using pair = await openPair({ type: 'webhook', settings: { template: '{{ data.transition }}' } });
    for (const record of sampleLife()) await pair.sink.send(outgoing(record), patience());
    expect(pair.inbox.requests.map(({ body }) => JSON.parse(body.toString()))).toEqual([
      'scheduled',
      'started',
      'completed',
    ]);
  });

  it('rejects a record that its filters can do nothing with, and goes on with the next one', async () => {
    const settings = { template: '{{ data.event.description | default:2026-11-20T00:00:00Z | date:utc }}' };
    // With the samples it would be refused at once; a record that says otherwise is met at run time only.
    expect(faultsOf(settings)).toHaveLength(1);
    const lenient = { template: '{{ data.observer.zone | default:2026-11-20T00:00:00Z | date:utc }}' };
    await using pair = await openPair({ type: 'webhook', settings: lenient });
    const good = sampleRecord();
    const odd = { ...good, data: { ...good.data, observer: { ...good.data.observer, zone: '2' } } };
    expect(await pair.sink.send(outgoing(odd), patience())).toEqual({
      status: 'rejected',
      reason: 'template',
    });
    expect(await pair.sink.send(outgoing(good), patience())).toEqual({ status: 'delivered' });
    expect(pair.inbox.requests.map(({ body }) => body.toString())).toEqual(['"2026-11-20 00:00:00 UTC"']);
  });
});

describe('a secret of a template', () => {
  const marker = 's3cr3t-r0uting';

  it('is read anew for each record, and told to nobody but the receiver', async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, 'key');
    const settings = { template: { key: '{{ secrets.routing }}' }, templateSecrets: { routing: { file } } };
    await using pair = await openPair({ type: 'webhook', settings });
    const said: unknown[] = [await pair.send()];
    writeFileSync(file, marker);
    said.push(await pair.send(), pair.sink, pair.settings);
    pair.inbox.answer({ status: 403, body: marker });
    said.push(await pair.send());
    expect(said[0]).toEqual({ status: 'unavailable', reason: 'secret-unreadable' });
    expect(said[1]).toEqual({ status: 'delivered' });
    expect(pair.inbox.requests[0]?.body.toString()).toBe(JSON.stringify({ key: marker }));
    expect(`${inspect(said, { depth: 20, showHidden: true })} ${JSON.stringify(said)}`).not.toContain(marker);
  });

  it('has to be there under its name', () => {
    const given = { template: ['{{ secrets.routng }}'], templateSecrets: { routing: { env: 'KEY' } } };
    expect(faultsOf(given)).toEqual(['sinks.hook.template.0: There is no such name in templateSecrets']);
    expect(faultsOf({ ...given, template: ['{{ secrets.routing }}'] })).toEqual([]);
  });

  it('has a name that a placeholder can say', () => {
    expect(faultsOf({ template: 'x', templateSecrets: { 'a.b': 'c' } })).toEqual([
      'sinks.hook.templateSecrets.a.b: A secret of a template is named with letters, digits, "_" and "-"',
    ]);
  });
});

describe('the settings of a template', () => {
  it.each([
    [{ a: ['{{ id | uper }}'] }, /^sinks\.hook\.template\.a\.0: There is no filter "uper"; there are json, /],
    [{ a: '{{ id' }, /^sinks\.hook\.template\.a: Expected \{\{ path \| filter:argument \}\}/],
    ['{{ id', /^sinks\.hook\.template: Expected /],
    [null, /^sinks\.hook\.template: Expected /],
    [
      { a: '{{ data.event.eventType | duration }}' },
      /^sinks\.hook\.template\.a: The filter "duration" can do nothing with what stands there$/,
    ],
    // Only a record of a canceled event has it.
    [{ a: '{{ data.timeline.canceled | duration }}' }, /^sinks\.hook\.template\.a: The filter "duration"/],
    [{ a: '{{ data.measured | duration }}' }, /^sinks\.hook\.template\.a: The filter "duration"/],
    [{ a: '{{ data.output | date:iso }}' }, /^sinks\.hook\.template\.a: The filter "date"/],
    [{ a: '{{ data.decision | duration }}' }, /^sinks\.hook\.template\.a: The filter "duration"/],
    [{ a: '{{ data.previous.notBefore | duration }}' }, /^sinks\.hook\.template\.a: The filter "duration"/],
  ])('are refused once, with the path: %j', (given, sentence) => {
    expect(faultsOf({ template: given })).toEqual([expect.stringMatching(sentence)]);
  });

  it.each(['application json', 'application/json\r\nx: y', 'json', ''])(
    'take no contentType such as %j',
    (contentType) => {
      expect(faultsOf({ template, contentType })).toEqual([
        'sinks.hook.contentType: Expected a media type such as application/json',
      ]);
    },
  );

  it('take any tree of YAML', () => {
    for (const given of ['x', 5, false, [], {}, [[{ a: null }]]])
      expect(faultsOf({ template: given })).toEqual([]);
  });

  it('quote nothing of the template but the name of a filter', () => {
    const faults = faultsOf({
      template: { key: 's3cr3t {{ oops', other: 's3cr3t {{ id | truncate:s3cr3t }}' },
    });
    expect(faults).toHaveLength(2);
    expect(faults.join()).not.toContain('s3cr3t');
  });
});

// Both forms of CloudEvents that the webhook sink sends, read back by the CloudEvents SDK.
import { CloudEvent, HTTP } from 'cloudevents';
import { describe, expect, it } from 'vitest';
import type { BridgeRecord } from '../../../src/core/record.ts';
import { sampleRecords } from '../../../src/core/sample-records.ts';
import type { InboxRequest } from '../../support/inbox.ts';
import { outgoing, sampleAgentRecord, sampleRecord } from '../../support/records.ts';
import { sinkSettings } from '../../support/sink-kinds.ts';
import { keepsTheHttpContract } from '../http-contract.ts';
import { openPair } from '../http-subject.ts';
import { patience } from '../sink-contract.ts';

/** What arrives for a record that is sent in this mode. */
async function sent(mode: string, record: BridgeRecord): Promise<InboxRequest> {
  await using pair = await openPair({ type: 'webhook', settings: { mode } });
  expect(await pair.sink.send(outgoing(record), patience())).toEqual({ status: 'delivered' });
  const [request] = pair.inbox.requests;
  if (request === undefined) throw new Error('nothing came');
  return request;
}

/** The event as the SDK reads it; `validate` throws when it is none. */
function readBySdk(headers: InboxRequest['headers'], body: Buffer): Record<string, unknown> {
  const event = HTTP.toEvent({ headers, body: body.toString() });
  if (!(event instanceof CloudEvent)) throw new Error('expected one event');
  event.validate();
  return event.toJSON();
}

/**
 * The headers as the binding wants a receiver to read them. The SDK leaves the percent-encoding in (version 10.0.0),
 * though section 3.1.3.2 of the binding asks a receiver to undo it.
 */
const decoded = (headers: InboxRequest['headers']): InboxRequest['headers'] =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      name.startsWith('ce-') ? decodeURIComponent(String(value)) : value,
    ]),
  );

const records = [...sampleRecords(), sampleAgentRecord()];
const named = records.map((record) => [record.type, record] as const);

describe('a structured webhook', () => {
  it.each(named)('is the record %s to the SDK', async (_, record) => {
    const { headers, body } = await sent('structured', record);
    expect(readBySdk(headers, body)).toEqual(record);
  });
});

const oddSubjects = [
  ['quotes', '/subscriptions/1/"quoted"/\'single\''],
  ['percent signs', '/100%/%41/%'],
  ['letters beyond ASCII', '/Größe/файл/日本'],
  ['an emoji', '/vm-🚀/👩‍🚒'],
  ['spaces, tabs and line breaks', ' a\tb\r\nce-id: forged '],
  ['a delete character', 'a\x7fb'],
] as const;

describe('a webhook in binary mode', () => {
  it.each(named)('is the record %s to the SDK', async (_, record) => {
    const { headers, body } = await sent('binary', record);
    const severitynumber = String(record.severitynumber);
    expect(readBySdk(decoded(headers), body)).toEqual({ ...record, severitynumber });
  });

  it('has the data as its body, and every other attribute in a header', async () => {
    const record = sampleRecord();
    const { headers, body } = await sent('binary', record);
    const { data, datacontenttype, ...attributes } = record;
    const expected = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, String(value)]);
    const found = Object.entries(decoded(headers)).filter(([name]) => name.startsWith('ce-'));
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
    expect(headers['content-type']).toBe(datacontenttype);
    expect(body.toString()).toBe(JSON.stringify(data));
  });

  it.each(oddSubjects)('carries a subject with %s', async (_, subject) => {
    const record = { ...sampleRecord(), subject };
    const { headers, body } = await sent('binary', record);
    expect(headers['ce-subject']).toMatch(/^[!#$%&-~]+$/);
    expect(headers['ce-id']).toBe(record.id);
    expect(readBySdk(decoded(headers), body)).toMatchObject({ subject, data: record.data });
  });

  it('encodes what the binding lists, in capitals, and nothing else', async () => {
    const { headers } = await sent('binary', { ...sampleRecord(), subject: 'a "b" 100% €~\u{1F600}/x' });
    expect(headers['ce-subject']).toBe('a%20%22b%22%20100%25%20%E2%82%AC~%F0%9F%98%80/x');
  });

  it('replaces half of a character, which has no bytes of its own', async () => {
    const { headers } = await sent('binary', { ...sampleRecord(), subject: 'a\ud83d' });
    expect(headers['ce-subject']).toBe('a%EF%BF%BD');
  });

  it.each([
    [{ template: 'x' }, ['template']],
    [{ contentType: 'text/plain' }, ['contentType']],
    [{ headers: { 'CE-Id': 'x' } }, ['headers', 'CE-Id']],
  ])('goes without %j', (more, path) => {
    const given = { type: 'webhook', url: 'https://x.test', mode: 'binary', ...more };
    const issues = sinkSettings.safeParse(given).error?.issues ?? [];
    expect(issues.map((issue) => [issue.path, issue.message])).toEqual([
      [path, expect.stringMatching(/^In mode: binary /)],
    ]);
  });
});

keepsTheHttpContract({
  type: 'webhook',
  settings: { mode: 'binary' },
  bodyOf: ({ record }) => JSON.stringify(record.data),
});

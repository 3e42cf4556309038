// What every sink that speaks HTTP must do, against real servers: each such sink's test runs this once.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { DeliveryReason, Outcome } from '../../src/core/delivery.ts';
import type { OutgoingRecord } from '../../src/sinks/sink.ts';
import { issueCertificate, trust } from '../support/certificate.ts';
import { type InboxAnswer, type InboxOptions, openInbox } from '../support/inbox.ts';
import { outgoing, sampleRecord } from '../support/records.ts';
import { listenSilently } from '../support/silent-server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import {
  keepsTheContractOfWaiting,
  keepsTheSinkContract,
  openFromSettings,
  patience,
  type SinkSubject,
} from './sink-contract.ts';

/** An HTTP sink, as its test describes it. */
export interface HttpSubject {
  readonly type: string;
  /** Settings as a configuration file has them, but for `type`, `url` and `allowHttp`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** What the receiver answers when it takes a record; an empty 200 unless given. */
  readonly accepts?: InboxAnswer;
  /** The body that arrives for a record; the record's own bytes unless given. */
  bodyOf?(outgoing: OutgoingRecord): string;
  /** Statuses that mean something else to this sink than to the others. */
  readonly differs?: Readonly<Record<number, Outcome['status']>>;
}

const statuses: Readonly<Record<Outcome['status'], readonly number[]>> = {
  delivered: [200, 201, 202, 204, 299],
  retryable: [407, 408, 421, 425, 429, 500, 502, 503, 504, 507, 520, 599, 600, 999],
  rejected: [400, 402, 405, 406, 409, 411, 413, 415, 418, 422, 451, 501, 505],
  unavailable: [300, 301, 302, 304, 307, 308, 401, 403, 404, 410],
};

/** Stands in every URL of these tests, as the key stands in the URL of a real receiver. */
const marker = 'sig-5ecre7';
const path = `/hook/${marker}?code=${marker}`;

// Nobody can be asked for a label of more than 63 characters, so no resolver outside is bothered.
const noSuchHost = `${'a'.repeat(64)}.test`;

const delivered: Outcome = { status: 'delivered' };
const retryable = (reason: DeliveryReason): Outcome => ({ status: 'retryable', reason });
const unavailable = (reason: DeliveryReason): Outcome => ({ status: 'unavailable', reason });

/** Runs the contract of sinks, and that of HTTP sinks on top. */
export function keepsTheHttpContract(subject: HttpSubject): void {
  keepsTheSinkContract(subject.type, () => openReceiver(subject));
  keepsTheContractOfWaiting(subject.type, () => openReceiver(subject));
  describe(`the contract of HTTP sinks, kept by ${subject.type}`, () => {
    readsEachStatus(subject);
    honoursRetryAfter(subject);
    survivesTheReceiver(subject);
    survivesTheNetwork(subject);
    verifiesCertificates(subject);
    guardsItsSettings(subject);
    keepsSecrets(subject);
  });
}

async function openReceiver(subject: HttpSubject): Promise<SinkSubject> {
  const pair = await openPair(subject);
  const { inbox, settings } = pair;
  return {
    open: () => pair.sink,
    settings,
    secret: marker,
    touched: async () => inbox.connections > 0,
    received: async () => inbox.requests.map(({ body }) => body),
    ...(subject.bodyOf === undefined ? {} : { expected: subject.bodyOf }),
    break: async () => await inbox[Symbol.asyncDispose](),
    stall: async () => inbox.answer({ fault: 'hang' }),
    [Symbol.asyncDispose]: async () => await pair[Symbol.asyncDispose](),
  };
}

/** A receiver, and a sink of the subject's type that sends to it. */
async function openPair(
  subject: HttpSubject,
  more: Readonly<Record<string, unknown>> = {},
  inboxOptions: InboxOptions = {},
) {
  const inbox = await openInbox({ answer: subject.accepts ?? {}, ...inboxOptions });
  const opened = openTo(subject, { url: inbox.url + path, ...more });
  return {
    ...opened,
    inbox,
    [Symbol.asyncDispose]: async () => {
      await inbox[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}

/** A sink of the subject's type. */
function openTo(subject: HttpSubject, more: Readonly<Record<string, unknown>>) {
  const given = { ...subject.settings, type: subject.type, allowHttp: true, ...more };
  const { sink, settings } = openFromSettings(given);
  return {
    sink,
    settings,
    send: (signal = patience()) => sink.send(outgoing(sampleRecord()), signal),
    [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose](),
  };
}

function readsEachStatus(subject: HttpSubject): void {
  const rows = Object.entries(statuses).flatMap(([meaning, list]) =>
    list.map((status) => [status, subject.differs?.[status] ?? meaning] as const),
  );

  it.each(rows)('understands the status %i as %s', async (status, meaning) => {
    await using pair = await openPair(subject);
    pair.inbox.answer({ ...subject.accepts, status });
    const expected = meaning === 'delivered' ? delivered : { status: meaning, reason: `http-${status}` };
    expect(await pair.send()).toEqual(expected);
    expect(pair.inbox.requests).toHaveLength(1);
  });

  it('never follows a redirect, which could turn the record into an empty GET', async () => {
    await using pair = await openPair(subject);
    const location = `${pair.inbox.url}/elsewhere`;
    pair.inbox.answer({ status: 302, headers: { location } }, { status: 200 });
    await pair.send();
    const seen = pair.inbox.requests.map((request) => `${request.method} ${request.path}`);
    expect(seen).toEqual([`POST ${path}`]);
  });

  it('goes to another connection after a 421', async () => {
    await using pair = await openPair(subject);
    pair.inbox.answer({ status: 421 }, subject.accepts ?? {});
    await pair.send();
    expect([await pair.send(), pair.inbox.connections]).toEqual([delivered, 2]);
  });
}

function honoursRetryAfter(subject: HttpSubject): void {
  const date = 'Fri, 20 Nov 2026 12:00:00 GMT';

  it.each([
    ['7', 7_000],
    ['1.5', 1_500],
    ['0', 0],
    ['Fri, 20 Nov 2026 12:05:00 GMT', 300_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['-5', undefined],
    ['soon', undefined],
    ['2026-11-20', undefined],
  ])('reads a Retry-After of "%s" as %s ms, by the clock of the receiver', async (value, retryAfterMs) => {
    await using pair = await openPair(subject);
    pair.inbox.answer({ status: 503, headers: { 'retry-after': value, date } });
    const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
    expect(await pair.send()).toEqual({ ...retryable('http-503'), ...asked });
  });
}

function survivesTheReceiver(subject: HttpSubject): void {
  it.each([
    ['reset', 'connection-reset'],
    ['garbage', 'protocol'],
    ['hang', 'timeout'],
  ] as const)('calls it retryable when the receiver answers with: %s', async (fault, reason) => {
    await using pair = await openPair(subject, { timeout: '500ms' });
    pair.inbox.answer({ fault });
    expect(await pair.send()).toEqual(retryable(reason));
  });

  it('calls it stale when a connection that had served before dies without an answer', async () => {
    await using pair = await openPair(subject);
    pair.inbox.answer(subject.accepts ?? {}, { fault: 'reset' });
    expect(await pair.send()).toEqual(delivered);
    expect(await pair.send()).toEqual({ ...retryable('connection-reset'), stale: true });
    expect(pair.inbox.connections).toBe(1);
  });

  it.each(['drip', 'flood', 'cut'] as const)('goes by the status when the body is a %s', async (fault) => {
    await using pair = await openPair(subject, { timeout: '1s' });
    pair.inbox.answer({ status: 500, fault });
    expect(await pair.send()).toEqual(retryable('http-500'));
  });

  it('hangs up on an answer without an end', async () => {
    await using pair = await openPair(subject);
    pair.inbox.answer({ status: 500, fault: 'flood' }, subject.accepts ?? {});
    await pair.send();
    expect([await pair.send(), pair.inbox.connections]).toEqual([delivered, 2]);
  });
}

function survivesTheNetwork(subject: HttpSubject): void {
  it('calls it retryable when nobody listens, and delivers once somebody does', async () => {
    await using pair = await openPair(subject);
    const { port } = pair.inbox;
    await pair.inbox[Symbol.asyncDispose]();
    expect(await pair.send()).toEqual(retryable('connection-refused'));
    await using _back = await openInbox({ port, answer: subject.accepts ?? {} });
    expect(await pair.send()).toEqual(delivered);
  });

  it('gives up on a connection that comes to nothing', async () => {
    await using silent = await listenSilently();
    const url = `https://127.0.0.1:${silent.port}${path}`;
    await using subjectSink = openTo(subject, { url, connectTimeout: '200ms' });
    expect(await subjectSink.send()).toEqual(retryable('timeout'));
  });

  it('calls it retryable when the name of the receiver does not resolve', async () => {
    await using subjectSink = openTo(subject, { url: `http://${noSuchHost}${path}` });
    expect(await subjectSink.send()).toEqual(retryable('name-not-found'));
  });

  it('asks no proxy, whatever the environment says', async () => {
    await using proxy = await openInbox();
    await using pair = await openPair(subject);
    process.env['http_proxy'] = proxy.url;
    const outcome = await pair.send();
    delete process.env['http_proxy'];
    expect([outcome, proxy.connections]).toEqual([delivered, 0]);
  });
}

function verifiesCertificates(subject: HttpSubject): void {
  const wait = { retryAfterMs: 300_000 };
  const past = Date.now() - 60_000;

  it.each([
    ['nobody vouches for', issueCertificate(), false],
    ['is for another name', issueCertificate({ names: ['elsewhere.test'] }), true],
    ['has expired', issueCertificate({ notAfterAt: past }), true],
  ])('sends nothing to a receiver whose certificate %s', async (_, tls, trusted) => {
    using _trust = trust(trusted ? [tls.cert] : []);
    await using pair = await openPair(subject, {}, { tls });
    expect(await pair.send()).toEqual({ ...retryable('tls'), ...wait });
    expect(pair.inbox.requests).toHaveLength(0);
  });

  it('delivers to a receiver whose certificate is good', async () => {
    const tls = issueCertificate();
    using _trust = trust([tls.cert]);
    await using pair = await openPair(subject, {}, { tls });
    expect(await pair.send()).toEqual(delivered);
  });

  it('calls it a fault of TLS when the receiver speaks none', async () => {
    await using pair = await openPair(subject);
    await using secure = openTo(subject, { url: `https://127.0.0.1:${pair.inbox.port}${path}` });
    expect(await secure.send()).toEqual({ ...retryable('tls'), ...wait });
  });
}

function guardsItsSettings(subject: HttpSubject): void {
  it.each([
    ['no URL at all', `hook ${marker}`],
    ['of another protocol', `ftp://127.0.0.1/${marker}`],
    ['with a password', `http://user:${marker}@127.0.0.1/`],
    ['with a fragment', `http://127.0.0.1/#${marker}`],
  ])('suspends the sink when its URL is %s', async (_, url) => {
    await using subjectSink = openTo(subject, { url });
    expect(await subjectSink.send()).toEqual(unavailable('invalid-url'));
  });

  it.each(['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '0.0.0.0'])(
    'reaches this machine as %s only where that is allowed',
    async (host) => {
      const tls = issueCertificate();
      await using inbox = await openInbox({ tls });
      const url = `https://${host}:${inbox.port}${path}`;
      await using subjectSink = openTo(subject, { url, allowHttp: false });
      expect(await subjectSink.send()).toEqual(unavailable('egress-blocked'));
      expect(inbox.connections).toBe(0);
    },
  );

  it('sends without TLS only where that is allowed', async () => {
    // Not on this machine, and nowhere else either: it would not get as far as asking for the name.
    await using plain = openTo(subject, { url: `http://${noSuchHost}${path}`, allowHttp: false });
    expect(await plain.send()).toEqual(unavailable('egress-blocked'));
  });

  it('never connects to the address that means this machine to Linux alone', async () => {
    await using pair = await openPair(subject);
    await using odd = openTo(subject, { url: `http://0.0.0.0:${pair.inbox.port}${path}` });
    expect([await odd.send(), pair.inbox.connections]).toEqual([unavailable('egress-blocked'), 0]);
  });

  it('suspends the sink while its secret cannot be read, and reads it anew for each attempt', async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, 'url');
    await using pair = await openPair(subject, { url: { file } });
    expect(await pair.send()).toEqual(unavailable('secret-unreadable'));
    writeFileSync(file, `${pair.inbox.url}${path}\n`);
    expect(await pair.send()).toEqual(delivered);
  });
}

function keepsSecrets(subject: HttpSubject): void {
  it('keeps its URL to itself in every failure', async () => {
    const said: unknown[] = [];
    for (const fault of ['reset', 'garbage', 'hang', 'cut'] as const) {
      await using pair = await openPair(subject, { timeout: '300ms' });
      pair.inbox.answer({ status: 500, fault, headers: { location: path }, body: path });
      said.push(await pair.send(), pair.sink, pair.settings);
    }
    for (const url of [`http://[${marker}]/`, `http://127.0.0.1:1/${marker}`, `http://${marker} x/`]) {
      await using subjectSink = openTo(subject, { url });
      said.push(await subjectSink.send(), await subjectSink.sink.check(patience()));
    }
    expect(`${inspect(said, { depth: 20 })} ${JSON.stringify(said)}`).not.toContain(marker);
  });
}

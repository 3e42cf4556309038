// A sink under the contract of HTTP sinks, and the real receiver that it sends to.
import type { Receiver } from '../../src/core/answer-table.ts';
import type { DeliveryReason, Outcome } from '../../src/core/delivery.ts';
import type { OutgoingRecord, SinkContext } from '../../src/sinks/sink.ts';
import { type InboxAnswer, type InboxOptions, openInbox } from '../support/inbox.ts';
import { outgoing, sampleRecord } from '../support/records.ts';
import { openFromSettings, patience, type SinkSubject } from './sink-contract.ts';

/** Stands in every URL of these tests, as the key stands in the URL of a real receiver. */
export const marker = 'sig-5ecre7';

/** Where a sink is told to send to. */
export interface HttpPlace {
  /** The name of the setting. */
  readonly setting: string;
  /** Whether the setting is a secret, so that it can be given as a file and no output shows it. */
  readonly secret: boolean;
  /** What follows the host in the setting; it stands in every output where `secret` is false. */
  readonly path: string;
  /** What follows the host in the request; as in the setting unless given. */
  readonly requested?: string;
}

/** An HTTP sink, as its test describes it. */
export interface HttpSubject {
  readonly type: string;
  /** Whose column of the table of answers counts; that of a plain webhook unless given. */
  readonly receiver?: Receiver;
  /** Settings as a configuration file has them, but for `type`, `allowHttp` and the place. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** A secret `url` with a key in its path and in its query unless given. */
  readonly place?: HttpPlace;
  /** What the sink may know of the program around it; called for each sink that is opened. */
  context?(): SinkContext;
  /** What the receiver answers when it takes a record; an empty 200 unless given. */
  readonly accepts?: InboxAnswer;
  /** The body that arrives for a record; the record's own bytes unless given. */
  bodyOf?(outgoing: OutgoingRecord): string;
  /** Whether the sink believes a 2xx only after it has read the body: one that breaks off is then tried again. */
  readonly readsBody?: boolean;
  /** Statuses that mean something else to this sink than its column says. */
  readonly differs?: Readonly<Record<number, Outcome>>;
  /** The path of requests that only ask, such as those of a check: they leave nothing at the receiver. */
  readonly asksAt?: string;
  /** Whether the sink remembers what it said: a record that is given again is then taken, and not sent. */
  readonly remembers?: boolean;
  /** Statuses after which the sink tries once more within the same attempt, such as with a fresh token. */
  readonly triesTwice?: readonly number[];
}

const usualPath = `/hook/${marker}?code=${marker}`;

export const placeOf = ({ place }: HttpSubject): Required<HttpPlace> => {
  const {
    setting,
    secret,
    path,
    requested = path,
  } = place ?? {
    setting: 'url',
    secret: true,
    path: usualPath,
  };
  return { setting, secret, path, requested };
};

/** The setting that sends a sink to a server. @param origin such as `http://127.0.0.1:43121` */
export const settingOf = (subject: HttpSubject, origin: string): Readonly<Record<string, string>> => {
  const { setting, path } = placeOf(subject);
  return { [setting]: origin + path };
};

/** What the receiver answers when it takes a record. */
export const acceptance = (subject: HttpSubject): InboxAnswer => subject.accepts ?? {};

// Nobody can be asked for a label of more than 63 characters, so no resolver outside is bothered.
export const noSuchHost = `${'a'.repeat(64)}.test`;

export const delivered: Outcome = { status: 'delivered' };
export const retryable = (reason: DeliveryReason): Outcome => ({ status: 'retryable', reason });
export const unavailable = (reason: DeliveryReason): Outcome => ({ status: 'unavailable', reason });

/** A sink of the subject's type. @param more settings on top, the place among them */
export function openTo(subject: HttpSubject, more: Readonly<Record<string, unknown>>) {
  const given = { ...subject.settings, type: subject.type, allowHttp: true, ...more };
  const { sink, settings } = openFromSettings(given, subject.context?.());
  return {
    sink,
    settings,
    send: (signal = patience()) => sink.send(outgoing(sampleRecord()), signal),
    [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose](),
  };
}

/** A receiver, and a sink of the subject's type that sends to it. */
export async function openPair(
  subject: HttpSubject,
  more: Readonly<Record<string, unknown>> = {},
  inboxOptions: InboxOptions = {},
) {
  const inbox = await openInbox({ answer: acceptance(subject), ...inboxOptions });
  const opened = openTo(subject, { ...settingOf(subject, inbox.url), ...more });
  return {
    ...opened,
    inbox,
    [Symbol.asyncDispose]: async () => {
      await inbox[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}

/** The subject as the contract of all sinks wants it. */
export async function openReceiver(subject: HttpSubject): Promise<SinkSubject> {
  const pair = await openPair(subject);
  const { inbox, settings } = pair;
  return {
    open: () => pair.sink,
    settings,
    secret: marker,
    touched: async () => inbox.connections > 0,
    received: async () =>
      inbox.requests.filter(({ path }) => path !== subject.asksAt).map(({ body }) => body),
    remembers: subject.remembers ?? false,
    ...(subject.bodyOf === undefined ? {} : { expected: subject.bodyOf }),
    break: async () => await inbox[Symbol.asyncDispose](),
    stall: async () => inbox.answer({ fault: 'hang' }),
    [Symbol.asyncDispose]: async () => await pair[Symbol.asyncDispose](),
  };
}

// Explains to a person why something was not delivered, and what to do about it: one sentence for each reason.
import type { SlackError } from './answer-table.ts';
import type { DeliveryReason } from './delivery.ts';

type NamedReason = Exclude<DeliveryReason, `http-${number}` | `slack-${SlackError}`>;

// What happened; what to do.
const sentences: Readonly<Record<NamedReason, string>> = {
  'connection-refused': 'nobody listens there; check the host and the port, and whether the receiver runs',
  'connection-reset':
    'the receiver cut the connection before it answered; it may be restarting, or a firewall ends connections',
  'host-unreachable': 'there is no route to the receiver; check the network, its routes and its firewalls',
  'name-not-found': 'the name of the receiver does not resolve; check its spelling, and DNS on this VM',
  timeout:
    'the receiver did not answer in time; check that a firewall does not swallow it, or raise `timeout`',
  tls: 'TLS could not be agreed on; check that the receiver speaks TLS 1.2 or later on this port',
  'tls-name-mismatch':
    'the certificate of the receiver is for another name; use the name that stands in it, or set `tls.serverName`',
  'tls-expired': 'the certificate of the receiver has expired, or the clock of this VM is wrong',
  'tls-untrusted':
    'nobody this VM trusts vouches for the certificate of the receiver; give its authority in `tls.caFile`',
  'tls-client-certificate':
    'the receiver wants a client certificate, or another one; give one that it accepts in `tls.certFile` and `tls.keyFile`',
  'tls-file-unreadable':
    'a file that `tls` names cannot be read; check that it is there, and readable for the user of the bridge',
  'tls-file-invalid':
    'a file that `tls` names cannot be used; it must be PEM, the key must belong to the certificate, and `tls.passphrase` to the key',
  'proxy-unreachable': 'the proxy cannot be reached; check the address in `proxy`, and that it runs',
  'proxy-authentication':
    'the proxy wants a user and a password, or others; put them into the URL in `proxy`',
  'proxy-refused':
    'the proxy refuses to connect to the receiver; ask whoever runs it to allow the host and port',
  'proxy-invalid':
    'the address in `proxy` cannot be used; it must look like http://HOST:PORT or http://USER:PASSWORD@HOST:PORT',
  'egress-blocked':
    'the bridge does not send there: link-local and fabric addresses never, plain `http:` and this machine only with `allowHttp: true`, and tokens of an identity over plain `http:` to no other machine',
  'invalid-url':
    'the URL cannot be used; it must begin with https://, without a user, a password or a #fragment',
  'invalid-header': 'a header has a value that HTTP cannot carry; look for line breaks and odd characters',
  'invalid-connection-string': 'the connection string cannot be read; copy it anew from the portal',
  'invalid-secret':
    'a signing secret cannot be used; it must be whsec_ and base64 of 24 to 64 bytes, or whsk_ and an ed25519 key in base64',
  'secret-unreadable':
    'a secret cannot be read; check that its file or variable is there, not empty, and readable',
  unauthorized: 'the receiver does not accept who we are; check the key, or give the identity its role',
  'not-found': 'what is named there does not exist; check its name',
  'hub-disabled': 'the hub takes no events; set its status to Active',
  throttled: 'the receiver is busy and asks to be left alone for a while; deliveries are tried again',
  'quota-exceeded': 'the quota of the receiver is used up; raise it, or wait for it to be renewed',
  'too-large': 'the record is larger than the receiver takes',
  'credential-unavailable':
    'no token could be had for the managed identity; check that the VM has one, and `clientId` when it has several',
  'disk-full': 'the disk is full; make room',
  'file-unwritable': 'the file cannot be written; check its path, and who owns it',
  'broken-pipe': 'nobody reads the other end any more',
  protocol: 'what answers there speaks another protocol; check the port',
  'unexpected-answer': 'the answer is not what this receiver says when it takes a message; check the URL',
  'trigger-disabled':
    'the flow behind the URL is switched off or deleted; switch it on in Power Automate, or use the URL of a new one',
  'retired-connector':
    'Office 365 connectors were retired; in the channel, add the workflow "Post to a channel when a webhook request is received" and use its URL',
  'handshake-refused': 'the receiver did not allow this origin when it was asked (OPTIONS); allow it there',
  template: 'the template cannot be filled in with this record; check its placeholders',
  aborted: 'the attempt was ended before it was over',
  unexpected: 'something failed that the bridge has no name for; run with `log.level: debug` and report it',
  expired: 'it could not be delivered before it was too old',
  damaged: 'its record on this disk is damaged',
  'outbox-full': 'the outbox was full and it gave way; raise `outbox.sizeMax` or mend the sink',
  'other-vm': 'it was made by another VM, whose disk this is a copy of',
  discarded: 'a person discarded it',
  'sink-removed': 'its sink is no longer configured',
};

const statusSentences: Readonly<Record<number, string>> = {
  400: 'the receiver does not understand the message; check that the URL belongs to this type of sink',
  401: 'the receiver does not accept the key, token or signature; check it, or get a new one',
  403: 'the receiver knows us and forbids it; check what the key or identity is allowed to do',
  404: 'the receiver knows no such path; check the URL, letter by letter',
  405: 'the receiver takes no POST at this path; check the URL',
  407: 'something in between wants a login of its own; set `proxy` if there is a proxy',
  408: 'the receiver gave up waiting for the message; deliveries are tried again',
  409: 'the receiver says that this conflicts with what it has; for repeats set `treat409AsDelivered: true`',
  410: 'the receiver is gone for good; make a new URL and put it into the configuration',
  411: 'the receiver does not take messages in this form',
  413: 'the message is larger than the receiver takes',
  415: 'the receiver does not take this content type; check that the URL belongs to this type of sink',
  422: 'the receiver understands the message and does not want it; check what it expects',
  429: 'the receiver takes no more messages for a while; deliveries are tried again',
  502: 'a gateway before the receiver gets no good answer from it; deliveries are tried again',
  503: 'the receiver is not available at the moment; deliveries are tried again',
  504: 'a gateway before the receiver waited too long for it; deliveries are tried again',
};

/** By hundreds, for a status without a sentence of its own. */
const statusClasses: Readonly<Record<number, string>> = {
  3: 'the receiver redirects, often to a login page or to a new address, and redirects are never followed; use the address behind it, or one that needs no login',
  4: 'the receiver refuses the message; check the URL and what it expects',
  5: 'the receiver failed; deliveries are tried again',
};

const slackSentences: Readonly<Partial<Record<SlackError, string>>> = {
  channel_not_found: 'Slack knows no such channel; check `channel`, and invite the app into a private one',
  user_not_found: 'Slack knows no such user; check the channel that the webhook was made for',
  channel_is_archived: 'the channel is archived; bring it back, or choose another',
  is_archived: 'the channel is archived; bring it back, or choose another',
  is_inactive: 'the channel is archived or frozen; bring it back, or choose another',
  not_in_channel: 'the app is not in the channel; invite it there (/invite @app)',
  messages_tab_disabled: 'the app takes no direct messages; choose a channel, or switch on its Messages tab',
  missing_scope: 'the token lacks a scope; give the app `chat:write` and install it again',
  restricted_action: 'a rule of the workspace forbids it; ask its administrators',
  restricted_action_read_only_channel:
    'the channel is for reading only; choose another, or let the app post there',
  restricted_action_thread_only_channel: 'the channel takes replies only; choose another',
  not_allowed_token_type:
    'Slack does not take a token of this kind; use the bot token, which begins with xoxb-',
  no_permission: 'the app may not post there; invite it to the channel (/invite @app)',
  accesslimited: 'the workspace lets nobody in from this network; ask its administrators',
  two_factor_setup_required: 'the workspace wants a second factor that the account of the app has not set up',
  team_access_not_granted: 'the app is not installed in the workspace of the channel; install it there',
  team_not_found: 'Slack knows no such workspace; check the token and the channel',
  org_login_required: 'the workspace is being moved by Slack; deliveries are tried again',
  team_added_to_org: 'the workspace is being moved by Slack; deliveries are tried again',
  external_channel_migrating: 'the channel is being moved by Slack; deliveries are tried again',
  message_limit_exceeded: 'the workspace has sent too many messages; deliveries are tried again',
  action_prohibited: 'a rule of the workspace forbids it; ask its administrators',
  posting_to_general_channel_denied: 'the app may not post to the general channel; choose another',
  account_inactive: 'the app or its user was removed from the workspace; install it again',
  team_disabled: 'the workspace is switched off',
  no_service: 'the webhook was removed or switched off; make a new one and use its URL',
  no_service_id: 'the webhook was removed or switched off; make a new one and use its URL',
  no_active_hooks: 'the webhook was removed or switched off; make a new one and use its URL',
  no_team: 'Slack knows no such workspace; copy the URL of the webhook again',
};

const slackClasses: readonly (readonly [RegExp, string])[] = [
  [/denied|restricted/, 'the workspace or its organization forbids it; ask its administrators'],
  [/token|auth/, 'Slack does not accept the token; install the app again and use its new token'],
  [/^rate_?limited$/, 'Slack takes no more messages for a while; deliveries are tried again'],
  [/error|failed|unavailable|timeout/, 'Slack failed; deliveries are tried again'],
];

type Sentences = Readonly<Partial<Record<DeliveryReason, string>>>;

const refused = (help: string): Sentences => {
  const sentence = `the receiver does not accept who we are; ${help}`;
  return { unauthorized: sentence, 'http-401': sentence, 'http-403': sentence };
};

const closedPort =
  'the namespace cannot be reached; where port 5671 is closed, set `transport: websockets`, and `proxy` if there is one';

/** What is best said in the words of one kind of sink: the role that may be missing comes first. */
const ofSink: Readonly<Record<string, Sentences>> = {
  eventhubs: {
    ...refused(
      'check the key, or give the identity the role "Azure Event Hubs Data Sender" on the hub or its namespace; a new role takes some minutes',
    ),
    'not-found': 'the namespace has no hub of that name; check `eventHubName`',
    'connection-refused': closedPort,
    'host-unreachable': closedPort,
    timeout: closedPort,
    protocol: 'what answers is no event hub but speaks HTTP, perhaps a proxy on the way; check `proxy`',
  },
  eventgrid: {
    ...refused(
      'check the key, or give the identity the role "EventGrid Data Sender" on the topic; a new role takes some minutes',
    ),
    'http-400': 'the topic does not take CloudEvents; make one whose input schema is CloudEventSchemaV1_0',
  },
  teams: {
    ...refused(
      'in the trigger of the workflow, let anyone call it, then copy its URL again and put it in as a whole, with its signature',
    ),
    'http-400':
      'the workflow does not take this message; make it from the template "Post to a channel when a webhook request is received"',
    'http-404': 'the workflow is gone or switched off; copy its URL again, or make a new one',
  },
  logicapps: {
    ...refused(
      'copy the URL of the trigger again, or add an authorization policy for the identity to the workflow’s trigger',
    ),
    'http-400':
      'the record does not fit the schema of the trigger; take the schema out, or use the published one',
    'http-404': 'the workflow or its trigger is gone or switched off; copy the URL of the trigger again',
  },
};

/**
 * One sentence without its full stop: what happened, and what to do.
 * @param sinkType the `type` of the sink, which knows the role that may be missing
 */
export function adviceOf(reason: DeliveryReason, sinkType: string): string {
  const own = ofSink[sinkType]?.[reason];
  if (own !== undefined) return own;
  if (reason.startsWith('http-')) return ofStatus(Number(reason.slice('http-'.length)));
  if (reason.startsWith('slack-')) return ofSlack(reason.slice('slack-'.length) as SlackError);
  return sentences[reason as NamedReason];
}

const ofStatus = (status: number): string =>
  statusSentences[status] ??
  statusClasses[Math.floor(status / 100)] ??
  'the receiver answers with a status that HTTP does not know; check what listens there';

const ofSlack = (error: SlackError): string =>
  slackSentences[error] ??
  slackClasses.find(([pattern]) => pattern.test(error))?.[1] ??
  'Slack refuses the message itself: this is a bug in the bridge; report it';

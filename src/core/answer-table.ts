// What the answers of HTTP receivers, and the lack of one, mean for a delivery: tables to be read beside each service's
// documentation.
import type { DeliveryReason } from './delivery.ts';

/** Whose answers they are. A receiver that has no column of its own is read as a plain webhook. */
export type Receiver = 'webhook' | 'slack' | 'teams' | 'logicapps' | 'eventgrid';

/**
 * `dead`: the record is at fault; the same bytes would meet the same answer for ever. `suspend`: the sink is at fault
 * and every record would meet the same answer. `passing`: so is this, but it is often over within minutes (a deploy, a
 * login page, a role that spreads), so that it is probed often for the first 15.
 */
export type Meaning = 'delivered' | 'retry' | 'dead' | 'suspend' | 'passing';

const receivers = ['webhook', 'slack', 'teams', 'logicapps', 'eventgrid'] as const satisfies Receiver[];

type Row = readonly [Meaning, Meaning, Meaning, Meaning, Meaning];

// A 3xx is never followed: a redirected POST may arrive as an empty GET and still be answered with 200.
// Event Grid judges a batch as a whole, so its sink sends the records of a refused batch one by one before it
// believes `dead`; Teams' sink does the same with a shorter card after a 413.
// biome-ignore format: columns
const statuses: Readonly<Record<string, Row>> = {
  //       webhook      slack        teams        logicapps    eventgrid
  '2xx': ['delivered', 'delivered', 'delivered', 'delivered', 'delivered'],
  '3xx': ['passing',   'passing',   'passing',   'passing',   'passing'  ],
  '400': ['dead',      'dead',      'dead',      'dead',      'dead'     ],
  '401': ['suspend',   'suspend',   'suspend',   'suspend',   'suspend'  ],
  '403': ['suspend',   'suspend',   'suspend',   'suspend',   'passing'  ],
  '404': ['passing',   'suspend',   'suspend',   'suspend',   'suspend'  ],
  '407': ['retry',     'retry',     'retry',     'retry',     'retry'    ],
  '408': ['retry',     'retry',     'retry',     'retry',     'retry'    ],
  '409': ['dead',      'dead',      'passing',   'retry',     'dead'     ],
  '410': ['suspend',   'suspend',   'suspend',   'suspend',   'suspend'  ],
  '413': ['dead',      'dead',      'dead',      'dead',      'dead'     ],
  '421': ['retry',     'retry',     'retry',     'retry',     'retry'    ],
  '425': ['retry',     'retry',     'retry',     'retry',     'retry'    ],
  '429': ['retry',     'retry',     'retry',     'retry',     'retry'    ],
  '4xx': ['dead',      'dead',      'dead',      'dead',      'dead'     ],
  '501': ['dead',      'dead',      'dead',      'dead',      'dead'     ],
  '505': ['dead',      'dead',      'dead',      'dead',      'dead'     ],
  '5xx': ['retry',     'retry',     'retry',     'retry',     'retry'    ],
  odd:   ['retry',     'retry',     'retry',     'retry',     'retry'    ],
};

/** What an HTTP status means when this receiver answers with it. */
export function meaningOfStatus(status: number, receiver: Receiver): Meaning {
  const row = statuses[String(status)] ?? statuses[`${Math.floor(status / 100)}xx`] ?? statuses['odd'];
  return row?.[receivers.indexOf(receiver)] ?? 'retry';
}

/**
 * What becomes of an attempt that got no answer. `retry`. `again`: retry, and at once where the connection had served
 * before, because such a one dies unnoticed. `later`: retry, but not within minutes. `suspend`: a person has to change
 * the configuration.
 */
export type FaultMeaning = 'retry' | 'again' | 'later' | 'suspend';

/** Why there was no answer, and what becomes of the attempt. */
export type Fault = readonly [FaultMeaning, DeliveryReason];

// By what an error calls itself: codes of Node's system calls and of c-ares, of OpenSSL's verification and of Node's
// TLS, of undici (UND_ERR_), and those of this program.
const faults: Readonly<Record<string, Fault>> = {
  // The network.
  ECONNREFUSED: ['retry', 'connection-refused'],
  EHOSTUNREACH: ['retry', 'host-unreachable'],
  EHOSTDOWN: ['retry', 'host-unreachable'],
  ENETUNREACH: ['retry', 'host-unreachable'],
  ENETDOWN: ['retry', 'host-unreachable'],
  EADDRNOTAVAIL: ['retry', 'host-unreachable'],
  // A VM may be up before its name service is.
  ENOTFOUND: ['retry', 'name-not-found'],
  EAI_AGAIN: ['retry', 'name-not-found'],
  EAI_FAIL: ['retry', 'name-not-found'],
  EAI_NODATA: ['retry', 'name-not-found'],
  EAI_NONAME: ['retry', 'name-not-found'],
  // Whether the receiver took the record is not known: it drops a repeat by its id.
  ETIMEDOUT: ['retry', 'timeout'],
  TimeoutError: ['retry', 'timeout'],
  UND_ERR_CONNECT_TIMEOUT: ['retry', 'timeout'],
  UND_ERR_HEADERS_TIMEOUT: ['retry', 'timeout'],
  UND_ERR_BODY_TIMEOUT: ['retry', 'timeout'],
  ECONNRESET: ['again', 'connection-reset'],
  ECONNABORTED: ['again', 'connection-reset'],
  EPIPE: ['again', 'connection-reset'],
  UND_ERR_SOCKET: ['again', 'connection-reset'],
  HTTPParserError: ['again', 'protocol'],
  UND_ERR_HEADERS_OVERFLOW: ['again', 'protocol'],
  // TLS.
  ERR_TLS_CERT_ALTNAME_INVALID: ['later', 'tls-name-mismatch'],
  HOSTNAME_MISMATCH: ['later', 'tls-name-mismatch'],
  CERT_HAS_EXPIRED: ['later', 'tls-expired'],
  CERT_NOT_YET_VALID: ['later', 'tls-expired'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['later', 'tls-untrusted'],
  SELF_SIGNED_CERT_IN_CHAIN: ['later', 'tls-untrusted'],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['later', 'tls-untrusted'],
  UNABLE_TO_GET_ISSUER_CERT: ['later', 'tls-untrusted'],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['later', 'tls-untrusted'],
  CERT_UNTRUSTED: ['later', 'tls-untrusted'],
  // The proxy of the sink.
  ERR_PROXY_UNREACHABLE: ['retry', 'proxy-unreachable'],
  ERR_PROXY_AUTHENTICATION: ['retry', 'proxy-authentication'],
  ERR_PROXY_REFUSED: ['retry', 'proxy-refused'],
  // The metadata service of this VM, asked for a token.
  ERR_TOKEN_UNAVAILABLE: ['retry', 'credential-unavailable'],
  // The configuration.
  ERR_EGRESS_BLOCKED: ['suspend', 'egress-blocked'],
  ERR_PROXY_INVALID: ['suspend', 'proxy-invalid'],
  ERR_TLS_FILE_UNREADABLE: ['suspend', 'tls-file-unreadable'],
  ERR_TLS_FILE_INVALID: ['suspend', 'tls-file-invalid'],
  UND_ERR_INVALID_ARG: ['suspend', 'invalid-header'],
};

const families: readonly (readonly [RegExp, Fault])[] = [
  [/^HPE_/, ['again', 'protocol']],
  // What the receiver says of our certificate, or of there being none.
  [/^ERR_SSL_.*_ALERT_.*(CERTIFICATE|UNKNOWN_CA)/, ['later', 'tls-client-certificate']],
  [/^(ERR_SSL_|ERR_TLS_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_|EPROTO$)/, ['later', 'tls']],
];

/** What an error that calls itself so means for an attempt; null for one that nobody foresaw. */
export function faultOfCode(code: string): Fault | null {
  return faults[code] ?? families.find(([pattern]) => pattern.test(code))?.[1] ?? null;
}

/**
 * What Slack says in the body, whatever the status: the text of a webhook's answer, or `error` of the Web API.
 * Sources: docs.slack.dev, "Incoming webhooks" and the error lists of chat.postMessage and chat.update.
 */
export const slackErrors = {
  // Our message is wrong.
  invalid_payload: 'dead',
  no_text: 'dead',
  too_many_attachments: 'dead',
  invalid_blocks: 'dead',
  invalid_blocks_format: 'dead',
  block_mismatch: 'dead',
  invalid_attachments: 'dead',
  invalid_arguments: 'dead',
  invalid_form_data: 'dead',
  invalid_post_type: 'dead',
  invalid_charset: 'dead',
  invalid_metadata_format: 'dead',
  invalid_metadata_schema: 'dead',
  metadata_too_large: 'dead',
  msg_too_long: 'dead',
  msg_blocks_too_long: 'dead',
  // The way to the channel is closed until a person opens it.
  user_not_found: 'suspend',
  channel_not_found: 'suspend',
  channel_is_archived: 'suspend',
  is_archived: 'suspend',
  is_inactive: 'suspend',
  not_in_channel: 'suspend',
  messages_tab_disabled: 'suspend',
  restricted_action: 'suspend',
  restricted_action_read_only_channel: 'suspend',
  restricted_action_thread_only_channel: 'suspend',
  action_prohibited: 'suspend',
  posting_to_general_channel_denied: 'suspend',
  invalid_token: 'suspend',
  invalid_auth: 'suspend',
  not_authed: 'suspend',
  token_revoked: 'suspend',
  token_expired: 'suspend',
  account_inactive: 'suspend',
  not_allowed_token_type: 'suspend',
  missing_scope: 'suspend',
  no_permission: 'suspend',
  access_denied: 'suspend',
  accesslimited: 'suspend',
  ekm_access_denied: 'suspend',
  enterprise_is_restricted: 'suspend',
  two_factor_setup_required: 'suspend',
  team_access_not_granted: 'suspend',
  team_not_found: 'suspend',
  team_disabled: 'suspend',
  no_service: 'suspend',
  no_service_id: 'suspend',
  no_active_hooks: 'suspend',
  no_team: 'suspend',
  // Slack is busy, or ill.
  ratelimited: 'retry',
  rate_limited: 'retry',
  internal_error: 'retry',
  fatal_error: 'retry',
  service_unavailable: 'retry',
  request_timeout: 'retry',
  rollup_error: 'retry',
  update_failed: 'retry',
  message_limit_exceeded: 'retry',
  // The workspace or the channel is being moved, which takes its time and ends by itself.
  org_login_required: 'retry',
  team_added_to_org: 'retry',
  external_channel_migrating: 'retry',
} as const satisfies Readonly<Record<string, Meaning>>;

/** The errors of Slack that are known; any other goes by the status alone. */
export type SlackError = keyof typeof slackErrors;

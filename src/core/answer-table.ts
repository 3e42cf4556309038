// What the answers of HTTP receivers mean for a delivery: one table, to be read beside each service's documentation.

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
 * What Slack says in the body, whatever the status: the text of a webhook's answer, or `error` of the Web API.
 * Sources: docs.slack.dev, "Incoming webhooks" and the error lists of chat.postMessage and chat.update.
 */
export const slackErrors = {
  // Our message is wrong.
  invalid_payload: 'dead',
  no_text: 'dead',
  too_many_attachments: 'dead',
  invalid_blocks: 'dead',
  invalid_attachments: 'dead',
  invalid_arguments: 'dead',
  msg_too_long: 'dead',
  msg_blocks_too_long: 'dead',
  // The way to the channel is closed until a person opens it.
  user_not_found: 'suspend',
  channel_not_found: 'suspend',
  channel_is_archived: 'suspend',
  is_archived: 'suspend',
  not_in_channel: 'suspend',
  restricted_action: 'suspend',
  action_prohibited: 'suspend',
  posting_to_general_channel_denied: 'suspend',
  invalid_token: 'suspend',
  invalid_auth: 'suspend',
  not_authed: 'suspend',
  token_revoked: 'suspend',
  token_expired: 'suspend',
  account_inactive: 'suspend',
  missing_scope: 'suspend',
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
} as const satisfies Readonly<Record<string, Meaning>>;

/** The errors of Slack that are known; any other goes by the status alone. */
export type SlackError = keyof typeof slackErrors;

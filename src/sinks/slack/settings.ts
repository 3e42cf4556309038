// The settings of the Slack sink: where to, as whom, and whom to wake.
import * as z from 'zod';
import { secret } from '../../config/secret.ts';
import { connectionSettings } from '../http-settings.ts';

const waking = /^<(?:!here|!channel|!everyone|!subteam\^S[A-Z0-9]+|@[UW][A-Z0-9]+)>$/;

const mention = z
  .string()
  .max(200)
  .refine(
    (text) => text.split(' ').every((part) => waking.test(part)),
    'Expected <!here>, <!channel>, <@U…> for a person or <!subteam^S…> for a group, or several with spaces between',
  )
  .exactOptional();

export const slackSettings = z
  .strictObject({
    url: secret()
      .exactOptional()
      .describe(
        'URL of an incoming webhook; counts as a secret. Each phase of an event is then a message of its own.',
      ),
    token: secret()
      .exactOptional()
      .describe(
        'Bot token (`xoxb-…`) with the scope `chat:write`, in place of `url`. Each event then has one message that is ' +
          'updated, with a reply in its thread for every later phase; when the VM or the answer of Slack is lost just as ' +
          'a message was posted, that one is posted again.',
      ),
    channel: z
      .string()
      .min(1)
      .max(100)
      .exactOptional()
      .describe('Channel that the bot posts to, best by its id such as `C0123456789`; goes with `token`.'),
    apiUrl: z
      .string()
      .min(1)
      .default('https://slack.com/api')
      .describe('Where the Web API is; another one for GovSlack or a gateway.'),
    mentions: z
      .strictObject({
        INFO: mention.describe('Whom records of severity INFO wake.'),
        WARN: mention.describe('Whom records of severity WARN wake.'),
        ERROR: mention.describe('Whom records of severity ERROR wake.'),
      })
      .prefault({})
      .describe('Whom a message wakes, such as `ERROR: "<!channel>"`; nobody unless given.'),
    ...connectionSettings,
  })
  .refine(
    ({ url, token, channel }) =>
      (url === undefined) !== (token === undefined) && (token === undefined) === (channel === undefined),
    'Give either url (an incoming webhook), or token and channel (a bot)',
  );

/** The parsed settings. */
export type SlackSettings = z.output<typeof slackSettings>;

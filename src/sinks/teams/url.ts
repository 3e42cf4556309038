// The URL of a Teams workflow, and the ones of the connectors that it replaced.
import { type Secret, SecretUnreadable } from '../../config/secret.ts';
import { adviceOf } from '../../core/advice.ts';
import { httpSettings } from '../http-settings.ts';

/**
 * Whether a URL is that of an Office 365 connector, retired in 2026. Workflows and Logic Apps share other hosts, some
 * of them with flows that have stopped, so nothing else is refused by its looks.
 */
export function isRetiredConnector({ hostname, pathname }: URL): boolean {
  const host = hostname.replace(/\.$/, '');
  if (host === 'webhook.office.com' || host.endsWith('.webhook.office.com')) return true;
  const isOutlook = host === 'outlook.office.com' || host === 'outlook.office365.com';
  return isOutlook && pathname.toLowerCase().startsWith('/webhook');
}

/** The `url` setting: a connector is refused at once where the URL stands in the configuration itself. */
export const workflowUrl = httpSettings.url
  .refine((url) => !isPlainConnector(url), { error: () => adviceOf('retired-connector', 'teams') })
  .describe(
    'URL of the workflow "Post to a channel when a webhook request is received". Counts as a secret: its signature lets anyone post.',
  );

function isPlainConnector(secret: Secret): boolean {
  if (secret.place !== 'plain') return false;
  const url = URL.parse(textOf(secret));
  return url !== null && isRetiredConnector(url);
}

function textOf(secret: Secret): string {
  try {
    return secret.reveal();
  } catch (error) {
    if (error instanceof SecretUnreadable) return '';
    throw error;
  }
}

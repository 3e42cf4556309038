// Sinks of every kind, each with secrets that hold a marker, each before a receiver that fails in one of many ways.
import { createPrivateKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueCertificate } from './certificate.ts';
import { type InboxAnswer, openInbox } from './inbox.ts';
import { openProxy } from './proxy.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Stands in every secret; letters only, so that no encoding of a URL changes it. */
export const marker = 'MARKERofAsecret';

const padded = Buffer.from(`${marker}-${'k'.repeat(31 - marker.length)}`);

/** The marker as it would look in base64, wherever it begins. */
const inBase64 = [0, 1, 2].map((offset) =>
  Buffer.concat([Buffer.alloc(offset), Buffer.from(marker)])
    .toString('base64')
    .replaceAll('=', '')
    .slice(offset === 0 ? 0 : 4, -4),
);

// What is made on the way and is as good as a secret: a token of the identity, and one made of a key.
const tokens = /eyJ[\w-]{8,}\.eyJ[\w-]{8,}|SharedAccessSignature sr=/;

/** Whether a text tells the secret, plainly or in base64, or a token. */
export const tells = (text: string): boolean =>
  [marker, ...inBase64].some((form) => text.includes(form)) ||
  text.includes(padded.toString('base64')) ||
  tokens.test(text);

type Settings = Readonly<Record<string, unknown>>;

/** The kinds of sink that speak HTTP: their settings for a receiver at `origin`. */
const kinds: Readonly<Record<string, (origin: string) => Settings>> = {
  webhook: (origin) => ({
    type: 'webhook',
    url: `${origin}/hook/${marker}?code=${marker}`,
    secrets: [`whsec_${padded.toString('base64')}`, `whsk_${padded.toString('base64')}`],
    basic: { username: 'bridge', password: marker },
    // A name that every object knows: whoever looks it up without care finds no mark of a secret there.
    headers: { 'x-key': marker, constructor: marker },
  }),
  template: (origin) => ({
    type: 'webhook',
    url: `${origin}/${marker}`,
    template: { text: 'code {{ secrets.code }} {{ secrets.valueOf | json }}' },
    templateSecrets: { code: marker, valueOf: marker },
  }),
  bearer: (origin) => ({ type: 'webhook', url: `${origin}/${marker}`, bearer: marker, mode: 'binary' }),
  asked: (origin) => ({
    type: 'webhook',
    url: `${origin}/${marker}`,
    handshake: 'cloudevents',
    bearer: marker,
  }),
  slack: (origin) => ({ type: 'slack', url: `${origin}/services/T0/B0/${marker}` }),
  bot: (origin) => ({
    type: 'slack',
    token: `xoxb-${marker}`,
    channel: 'C0123456789',
    apiUrl: `${origin}/api`,
  }),
  teams: (origin) => ({ type: 'teams', url: `${origin}/workflows/x?sig=${marker}` }),
  flow: (origin) => ({ type: 'logicapps', url: `${origin}/workflows/x?sp=run&sv=1.0&sig=${marker}` }),
  identity: (origin) => ({ type: 'logicapps', url: `${origin}/w?sig=${marker}`, auth: 'managedIdentity' }),
  topic: (origin) => ({ type: 'eventgrid', endpoint: `${origin}/api/events`, key: marker }),
};

export interface EveryFailure extends AsyncDisposable {
  /** Settings of sinks, by name: every kind before every receiver. */
  readonly sinks: Readonly<Record<string, Settings>>;
}

const quoting = `you sent ${marker} to https://receiver.test/${marker}?sig=${marker}`;
const headers = { location: `/login?back=${marker}`, 'x-request-url': `/${marker}` };

/** Says yes in the words of Slack, and quotes the token wherever it may. */
const echo = {
  ok: true,
  channel: `C-xoxb-${marker}`,
  ts: `1.1-xoxb-${marker}`,
  team: `xoxb-${marker}`,
  user: `bot of xoxb-${marker}`,
  error: `xoxb-${marker}`,
};

const answers: Readonly<Record<string, InboxAnswer>> = {
  echo: { status: 200, headers, body: JSON.stringify(echo) },
  odd: { status: 200, body: quoting },
  moved: { status: 302, headers, body: quoting },
  wrong: { status: 400, headers, body: JSON.stringify({ ok: false, error: marker }) },
  unknown: { status: 401, headers, body: JSON.stringify({ error: { code: marker, message: quoting } }) },
  missing: { status: 404, headers, body: quoting },
  gone: { status: 410, headers, body: quoting },
  busy: { status: 429, headers: { ...headers, 'retry-after': '1' }, body: quoting },
  ill: { status: 500, headers, body: quoting },
  reset: { fault: 'reset' },
  garbage: { fault: 'garbage' },
  silent: { fault: 'hang' },
};

/** Opens the receivers; disposing of it closes them. */
export async function openEveryFailure(): Promise<EveryFailure> {
  await using resources = new AsyncDisposableStack();
  const origins: Record<string, string> = { refused: 'http://127.0.0.1:9', invalid: `http://[${marker}` };
  for (const [name, answer] of Object.entries(answers)) {
    origins[name] = resources.use(await openInbox({ answer })).url;
  }
  const secure = resources.use(await openInbox({ tls: issueCertificate() }));
  const proxy = resources.use(await openProxy({ refuses: 403 }));
  origins['untrusted'] = secure.url;
  const entries = Object.entries(origins).flatMap(([fault, origin]) =>
    Object.entries(kinds).map(
      ([kind, settingsOf]) =>
        [`${kind}-${fault}`, common(settingsOf(origin), fault === 'silent' ? '400ms' : '10s')] as const,
    ),
  );
  const proxied = Object.entries(kinds).map(([kind, settingsOf]) => {
    const url = proxy.url.replace('//', `//user:${marker}@`);
    return [`${kind}-proxied`, { ...common(settingsOf(secure.url)), proxy: url }] as const;
  });
  const certified = certifiedSinks(secure.url, resources.use(temporaryDirectory()).path);
  // Their places are no secrets, so that a marker in them would prove nothing.
  const usable = [...entries, ...proxied, ...certified].filter(
    ([name]) => !['topic-invalid', 'bot-invalid'].includes(name),
  );
  const owned = resources.move();
  return { sinks: Object.fromEntries(usable), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Every record, because the agent says something about itself at once. */
const common = (settings: Settings, timeout = '10s'): Settings => ({
  ...settings,
  allowHttp: true,
  timeout,
  filter: { observer: 'all', records: ['event', 'agent'] },
});

/** Sinks whose files for TLS are wrong and hold the secret, or are locked with another one. */
function certifiedSinks(origin: string, directory: string): (readonly [string, Settings])[] {
  const { key, cert } = issueCertificate();
  const locked = createPrivateKey(key).export({
    ...{ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'another' },
  });
  const wrong = `-----BEGIN CERTIFICATE-----\n${marker}\n-----END CERTIFICATE-----\n`;
  const [keyFile, certFile, caFile] = Object.entries({ key: locked, cert, ca: wrong }).map(([name, text]) => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  });
  const sink = { type: 'webhook', url: `${origin}/${marker}` };
  return [
    ['webhook-locked', common({ ...sink, tls: { keyFile, certFile, passphrase: marker } })],
    ['webhook-authority', common({ ...sink, tls: { caFile } })],
  ];
}

// The part of the HTTP contract that is about harm: where a sink must not send, and what it must not say.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { issueCertificate } from '../../support/certificate.ts';
import { openInbox } from '../../support/inbox.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import {
  delivered,
  type HttpSubject,
  marker,
  noSuchHost,
  openPair,
  openTo,
  placeOf,
  settingOf,
  unavailable,
} from '../http-subject.ts';
import { patience } from '../sink-contract.ts';

export function guardsItsSettings(subject: HttpSubject): void {
  const { setting } = placeOf(subject);

  it.each(['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '0.0.0.0'])(
    'reaches this machine as %s only where that is allowed',
    async (host) => {
      await using inbox = await openInbox({ tls: issueCertificate() });
      const place = settingOf(subject, `https://${host}:${inbox.port}`);
      await using opened = openTo(subject, { ...place, allowHttp: false });
      expect(await opened.send()).toEqual(unavailable('egress-blocked'));
      expect(inbox.connections).toBe(0);
    },
  );

  it('sends without TLS only where that is allowed', async () => {
    // Not on this machine, and nowhere else either: it would not get as far as asking for the name.
    const place = settingOf(subject, `http://${noSuchHost}`);
    await using plain = openTo(subject, { ...place, allowHttp: false });
    expect(await plain.send()).toEqual(unavailable('egress-blocked'));
  });

  it('never connects to the address that means this machine to Linux alone', async () => {
    await using pair = await openPair(subject);
    await using odd = openTo(subject, settingOf(subject, `http://0.0.0.0:${pair.inbox.port}`));
    expect([await odd.send(), pair.inbox.connections]).toEqual([unavailable('egress-blocked'), 0]);
  });

  // A place that is no secret is looked at when the configuration is read.
  if (!placeOf(subject).secret) return;
  it.each([
    ['no URL at all', `hook ${marker}`],
    ['of another protocol', `ftp://127.0.0.1/${marker}`],
    ['with a password', `http://user:${marker}@127.0.0.1/`],
    ['with a fragment', `http://127.0.0.1/#${marker}`],
  ])('suspends the sink when its URL is %s', async (_, url) => {
    await using opened = openTo(subject, { [setting]: url });
    expect(await opened.send()).toEqual(unavailable('invalid-url'));
  });

  it('suspends the sink while its secret cannot be read, and reads it anew for each attempt', async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, 'url');
    await using pair = await openPair(subject, { [setting]: { file } });
    expect(await pair.send()).toEqual(unavailable('secret-unreadable'));
    writeFileSync(file, `${settingOf(subject, pair.inbox.url)[setting]}\n`);
    expect(await pair.send()).toEqual(delivered);
  });
}

export function keepsSecrets(subject: HttpSubject): void {
  it('keeps its secrets to itself in every failure', async () => {
    const said: unknown[] = [];
    for (const fault of ['reset', 'garbage', 'hang', 'cut'] as const) {
      await using pair = await openPair(subject, { timeout: '300ms' });
      pair.inbox.answer({ status: 500, fault, headers: { location: marker }, body: marker });
      said.push(await pair.send(), pair.sink, pair.settings);
    }
    const { setting, secret, path } = placeOf(subject);
    const wrong = secret ? [`http://[${marker}]/`, `http://${marker} x/`] : [];
    for (const place of [...wrong, `http://127.0.0.1:1${path}`]) {
      await using opened = openTo(subject, { [setting]: place });
      said.push(await opened.send(), await opened.sink.check(patience()));
    }
    for (const proxy of [`http://user:${marker}@127.0.0.1:1`, `http://[${marker}]:1`]) {
      await using pair = await openPair(subject, { proxy });
      said.push(await pair.send(), await pair.sink.check(patience()), pair.settings);
    }
    expect(`${inspect(said, { depth: 20 })} ${JSON.stringify(said)}`).not.toContain(marker);
  });
}

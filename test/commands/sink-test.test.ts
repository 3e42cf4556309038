// Whether `seb sink test` reaches the sink, and says in a sentence what to mend when it does not.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sinkTest } from '../../src/commands/sink-test.ts';
import { type ImdsEmulator, startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { issueCertificate, trust } from '../support/certificate.ts';
import { runCommandLine } from '../support/command-line.ts';
import { openInbox } from '../support/inbox.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { stage } from '../support/terminal.ts';

const marker = 'MARKER-OF-A-SECRET';
const noImds = { endpoint: 'http://127.0.0.1:9' };
let imds: ImdsEmulator;
beforeAll(async () => {
  imds = await startImdsEmulator();
});
afterAll(() => imds[Symbol.asyncDispose]());

/** A file with the sinks, for as long as the test lasts. */
function fileWith(sinks: object, place: object = { endpoint: imds.url }) {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'agent.yaml');
  writeFileSync(path, JSON.stringify({ stateDir: join(directory.path, 'state'), imds: place, sinks }));
  return { path, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

/** Tests the sink `hook`, and gives what was printed with its one row. */
async function testOf(hook: object, place?: object) {
  using file = fileWith({ hook: { type: 'webhook', allowHttp: true, ...hook } }, place);
  const run = await runCommandLine(['sink', 'test', 'hook', '-c', file.path, '-o', 'json']);
  const [row] = JSON.parse(run.stdout) as { outcome: string; reason: string; detail: string }[];
  return { ...run, row, said: run.stdout + run.stderr };
}

describe('a sink that works', () => {
  it('gets one record that is marked as a test and names the VM', async () => {
    await using inbox = await openInbox();
    const { exitCode, row } = await testOf({ url: inbox.url });
    expect([exitCode, row?.outcome, inbox.requests.length]).toEqual([0, 'delivered', 1]);
    const record = JSON.parse(String(inbox.requests[0]?.body));
    expect(record).toMatchObject({
      type: 'io.github.scheduled-events-bridge.agent.test.v1',
      data: { test: true, sink: 'hook' },
    });
    expect(record.data.observer.vmName).toEqual(expect.any(String));
  });

  it('is said to have got it without the word test when its body is made by a template', async () => {
    await using inbox = await openInbox();
    const plain = await testOf({ url: inbox.url });
    const { exitCode, row } = await testOf({ url: inbox.url, template: { text: '{{ id }}' } });
    expect([exitCode, plain.row?.detail]).toEqual([0, 'the sink took the test record']);
    expect(row?.detail).toContain('its template, which cannot say that it is a test');
  });

  it('gets it also when its filter takes no such record, and when nobody knows the name of the VM', async () => {
    await using inbox = await openInbox();
    const { exitCode } = await testOf(
      { url: inbox.url, filter: { types: ['Reboot'], records: ['event'] } },
      noImds,
    );
    expect([exitCode, inbox.requests.length]).toEqual([0, 1]);
  });
});

describe('a sink that does not work', () => {
  it.each([
    [404, 'http-404', 'check the URL'],
    [401, 'http-401', 'key, token or signature'],
    [302, 'http-302', 'login page'],
    [410, 'http-410', 'make a new URL'],
    [500, 'http-500', 'the receiver failed'],
  ])(
    'whose receiver answers %i ends with 1, and with a sentence that helps',
    async (status, reason, help) => {
      await using inbox = await openInbox({ answer: { status, headers: { location: '/login' } } });
      const { exitCode, row, said } = await testOf({ url: `${inbox.url}/${marker}?sig=${marker}` });
      expect([exitCode, row?.reason]).toEqual([1, reason]);
      expect(row?.detail).toContain(help);
      expect(said).not.toContain(marker);
    },
  );

  it('whose certificate is for another name says so', async () => {
    const tls = issueCertificate({ names: ['elsewhere.test'] });
    using _trust = trust([tls.cert]);
    await using inbox = await openInbox({ tls });
    const { row } = await testOf({ url: inbox.url });
    expect(row).toMatchObject({ reason: 'tls-name-mismatch' });
    expect(row?.detail).toContain('another name');
  });

  it('whose proxy refuses to connect says that it is the proxy', async () => {
    await using inbox = await openInbox();
    await using proxy = await openInbox({ answer: { status: 403 } });
    const { row } = await testOf({ url: inbox.url, proxy: proxy.url });
    expect(row?.reason).toMatch(/^proxy-/);
    expect([row?.detail.includes('proxy'), inbox.requests.length]).toEqual([true, 0]);
  });

  it('whose secret is not there is told which setting, and where it was looked for', async () => {
    await using inbox = await openInbox();
    const missing = { file: '/nowhere/hook.token' };
    const { row, said } = await testOf({ url: inbox.url, headers: { 'x-key': missing, 'x-other': marker } });
    expect(row?.reason).toBe('secret-unreadable');
    expect(row?.detail).toMatch(/: headers\.x-key \(file:\/nowhere\/hook\.token\)$/);
    expect([said.includes(marker), inbox.requests.length]).toEqual([false, 0]);
  });

  it('that nobody listens at says so', async () => {
    const { exitCode, row } = await testOf({ url: 'http://127.0.0.1:9/' });
    expect([exitCode, row?.reason]).toEqual([1, 'connection-refused']);
  });
});

describe('what is printed', () => {
  it('is a whole sentence on a terminal, however narrow', async () => {
    await using inbox = await openInbox({ answer: { status: 404 } });
    using file = fileWith({ hook: { type: 'webhook', allowHttp: true, url: inbox.url } });
    const { context, stdout } = stage({ config: file.path }, 40);
    expect(await sinkTest.run({ ...context, operands: ['hook'] })).toBe(1);
    expect(stdout.text).toBe(
      'hook (webhook): not delivered (http-404): the receiver knows no such path; check the URL, letter by letter.\n',
    );
  });

  it('names the sinks there are when there is none of that name, and the one that was probably meant', async () => {
    using file = fileWith({ hook: { type: 'stdout' }, ops: { type: 'stdout' } });
    const run = await runCommandLine(['sink', 'test', 'hok', '-c', file.path]);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain('it has hook, ops; did you mean "hook"?');
  });

  it('says so when there are no sinks at all', async () => {
    using file = fileWith({});
    const run = await runCommandLine(['sink', 'test', 'hook', '-c', file.path]);
    expect(run.stderr).toContain('it has no sinks');
  });
});

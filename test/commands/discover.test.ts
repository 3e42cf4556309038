// Whether `seb discover` finds the address of Azure's fabric, in leases first, and asks only when it is told to.
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leasePlaces, readLeases } from '../../src/commands/discover/leases.ts';
import { parseConfiguration } from '../../src/config/load.ts';
import { runCommandLine } from '../support/command-line.ts';
import { offerTo, openDhcpServer } from '../support/dhcp.ts';
import { agentSettings } from '../support/sink-kinds.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const discover = (...words: string[]) => runCommandLine(['discover', ...words]);

/** A server on this machine, asked from a free port of it, in the name of the loopback interface. */
const on = (server: string, timeout = '0.3') => [
  ...['--server', server, '--from', '127.0.0.1:0'],
  ...['--interface', 'lo', '--timeout', timeout],
];

const ask = (directory: string, server: string, ...more: string[]) =>
  discover('--ask', '--lease-dir', directory, ...on(server), ...more);
/** For a server that answers: so patient that a busy machine is not asked twice. */
const askPatiently = (directory: string, server: string, seconds: string, ...more: string[]) =>
  discover('--ask', '--lease-dir', directory, ...on(server, seconds), ...more);

describe('with a lease', () => {
  it('it prints the line for agent.yaml, which the agent takes, and who needs it', async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, '2');
    writeFileSync(path, 'ADDRESS=10.1.0.4\nOPTION_245=a83f8110\n');
    const { exitCode, stdout, stderr } = await discover('--lease-dir', directory.path);
    expect(exitCode).toBe(0);
    const line = 'imds: { endpoint: "http://168.63.129.16:80" }';
    expect(stdout).toBe(`168.63.129.16\t${line}\t${path}\n`);
    const { imds } = parseConfiguration(line, 'agent.yaml', agentSettings);
    expect(imds.endpoint).toBe('http://168.63.129.16:80');
    expect(stderr).toContain('wire server');
    expect(stderr).toContain('retired');
    expect(stderr).toContain('leave imds.endpoint out');
  });

  it('it says the same as JSON', async () => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, 'a.lease'), 'option unknown-245 a:1:0:1;\n');
    const { stdout, stderr } = await discover('--lease-dir', directory.path, '-o', 'json');
    expect(JSON.parse(stdout)).toEqual([
      {
        address: '10.1.0.1',
        endpoint: 'http://10.1.0.1:80',
        setting: 'imds: { endpoint: "http://10.1.0.1:80" }',
        foundIn: join(directory.path, 'a.lease'),
      },
    ]);
    expect(stderr).not.toContain('wire server');
  });

  it('it asks nobody, even if it may', async () => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, 'a.lease'), 'OPTION_245=a83f8110\n');
    await using server = await openDhcpServer((question) => [offerTo(question)]);
    const { stdout } = await ask(directory.path, server.address);
    expect(stdout).toContain(join(directory.path, 'a.lease'));
    expect(server.questions).toEqual([]);
  });

  it('the newest file of each address speaks, and links lead nowhere', () => {
    using directory = temporaryDirectory();
    const file = (name: string, address: string, at: number): string => {
      const path = join(directory.path, name);
      writeFileSync(path, `OPTION_245=${address}\n`);
      utimesSync(path, at, at);
      return path;
    };
    file('1-old.lease', 'a83f8110', 1_000);
    file('3-older.lease', 'a83f8110', 500);
    const elsewhere = file('elsewhere', '0a000001', 4_000);
    symlinkSync(elsewhere, join(directory.path, 'link.lease'));
    mkdirSync(join(directory.path, 'folder.lease'));
    const newest = file('2-new.lease', 'a83f8110', 3_000);
    const other = file('other.lease', '0a000002', 2_000);
    const places = [
      { directory: join(directory.path, 'nowhere'), names: /^/ },
      { directory: directory.path, names: /\.lease$/ },
    ];
    expect(readLeases(places)).toEqual({
      found: [
        { address: '168.63.129.16', path: newest },
        { address: '10.0.0.2', path: other },
      ],
      read: 4,
      unreadable: [],
    });
  });

  it('every usual place is a full path', () => {
    expect(leasePlaces.filter(({ directory }) => !directory.startsWith('/'))).toEqual([]);
    expect(leasePlaces.length).toBeGreaterThan(4);
  });
});

describe('without a lease', () => {
  it('it ends with 1, says how to ask, and asks nobody by itself', async () => {
    using directory = temporaryDirectory();
    const empty = await discover('--lease-dir', directory.path);
    expect(empty).toMatchObject({ exitCode: 1, stdout: '' });
    expect(empty.stderr).toMatch(/^seb: no lease was found here; "seb discover --ask" asks .*\n$/);
    writeFileSync(join(directory.path, 'a.lease'), 'ADDRESS=10.1.0.4\n');
    const { stderr } = await discover('--lease-dir', directory.path);
    expect(stderr).toContain('none of the 1 leases here has option 245');
  });

  it('it says what it could not look into', async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'file');
    writeFileSync(path, '');
    const { exitCode, stderr } = await discover('--lease-dir', path);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${path} cannot be read (ENOTDIR)`);
  });
});

describe('asked to ask', () => {
  it('it takes the address from the offer of a server', async () => {
    using directory = temporaryDirectory();
    await using server = await openDhcpServer((question) => [offerTo(question)]);
    const { exitCode, stdout } = await askPatiently(directory.path, server.address, '20', '-o', 'jsonl');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ address: '168.63.129.16', foundIn: 'DHCP server 127.0.0.1' });
    expect(server.questions).toHaveLength(1);
  });

  it('it asks again while nobody answers, with the same question, and gives up in time', async () => {
    using directory = temporaryDirectory();
    await using server = await openDhcpServer(() => []);
    const begunAt = performance.now();
    const { exitCode, stderr } = await ask(directory.path, server.address);
    expect(performance.now() - begunAt).toBeLessThan(5_000);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: 'seb: no DHCP server answered within 0.3 s\n',
    });
    expect(server.questions).toHaveLength(4);
    const ids = server.questions.map((question) => Buffer.from(question).readUInt32BE(4));
    expect(new Set(ids).size).toBe(1);
  });

  it('it takes no question twice from chance', async () => {
    using directory = temporaryDirectory();
    await using server = await openDhcpServer((question) => [offerTo(question)]);
    await ask(directory.path, server.address);
    await ask(directory.path, server.address);
    const ids = server.questions.map((question) => Buffer.from(question).readUInt32BE(4));
    expect(new Set(ids).size).toBe(2);
  });

  it('it takes no notice of what answers another question, is torn or is no DHCP at all', async () => {
    using directory = temporaryDirectory();
    const wrong = (question: Uint8Array) => [
      offerTo(question, {
        transactionId: 7,
        options: [
          [53, [2]],
          [245, [10, 6, 6, 6]],
        ],
      }),
      offerTo(question, {
        hardwareAddress: [6, 6, 6, 6, 6, 6],
        options: [
          [53, [2]],
          [245, [10, 6, 6, 6]],
        ],
      }),
      offerTo(question).subarray(0, 200),
      Buffer.from('hello'),
    ];
    await using server = await openDhcpServer((question, count) =>
      count === 1 ? wrong(question) : [...wrong(question), offerTo(question)],
    );
    const { exitCode, stdout } = await askPatiently(directory.path, server.address, '8');
    expect({ exitCode, address: stdout.split('\t')[0] }).toEqual({ exitCode: 0, address: '168.63.129.16' });
    expect(server.questions).toHaveLength(2);
  });

  it('it says that a server knows no such address, and asks it once', async () => {
    using directory = temporaryDirectory();
    await using server = await openDhcpServer((question) => [offerTo(question, { options: [[53, [2]]] })]);
    const { exitCode, stdout, stderr } = await askPatiently(directory.path, server.address, '20');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain('the DHCP server 127.0.0.1 names no address in option 245');
    expect(server.questions).toHaveLength(1);
  });

  it('it says why the question cannot be sent', async () => {
    using directory = temporaryDirectory();
    const { exitCode, stderr } = await ask(directory.path, '127.0.0.1:9', '--from', '192.0.2.1:0');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('the question cannot be sent: the system says EADDRNOTAVAIL');
  });

  it('it ends at once when it is interrupted', async () => {
    using directory = temporaryDirectory();
    await using server = await openDhcpServer(() => []);
    const begunAt = performance.now();
    const interrupted = AbortSignal.timeout(100);
    const { exitCode, stderr } = await runCommandLine(
      ['discover', '--ask', '--lease-dir', directory.path, ...on(server.address, '300')],
      undefined,
      interrupted,
    );
    expect(performance.now() - begunAt).toBeLessThan(5_000);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
  });
});

it.each([
  [['--ask', '--server', 'here', '--interface', 'lo'], '--server takes'],
  [['--ask', '--from', '[::1]:68', '--interface', 'lo'], '--from takes'],
  [['--ask', '--interface', 'eth99'], 'there is no interface "eth99"'],
  [['--ask', '--interface', 'lo', '--timeout', '0'], '--timeout takes a number'],
  [['--lease-dir', '/nowhere'], '"/nowhere" is not there'],
])('is called wrongly with %s', async (words, sentence) => {
  using directory = temporaryDirectory();
  const { exitCode, stderr } = await discover('--lease-dir', directory.path, ...words);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(sentence);
});

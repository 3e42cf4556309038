// What the units of agent and consumer must say, and that it fits the programs; systemd itself judges in test/packages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentSettingsFor } from '../../src/agent/settings.ts';
import { readArguments } from '../../src/commands/arguments.ts';
import { exitCodes } from '../../src/commands/dispatch.ts';
import { defaultFile } from '../../src/commands/program.ts';
import { registry } from '../../src/commands/registry.ts';
import { imdsAddress } from '../../src/config/agent.ts';
import { consumerSchema } from '../../src/config/consumer.ts';
import { defaultTrailPath } from '../../src/config/consumer-trail.ts';
import { parseConfiguration, validateConfiguration } from '../../src/config/load.ts';
import { projectRoot } from '../support/source-files.ts';
import {
  dropInNames,
  lastValueOf,
  readUnit,
  secondsOf,
  unitNames,
  unitText,
  valuesOf,
  wordsOf,
} from './unit-file.ts';

const agent = 'scheduled-events-bridge-agent.service';
const consumer = 'scheduled-events-bridge-consumer.service';
const restarter = 'scheduled-events-bridge-credentials.service';
const watch = 'scheduled-events-bridge-credentials.path';
const programs = [
  { name: 'agent' as const, unit: agent },
  { name: 'consumer' as const, unit: consumer },
];
/** What a timer starts, once somebody enabled it. */
const jobs = ['verify', 'prune'].map((name) => ({
  name,
  unit: `scheduled-events-bridge-${name}.service`,
  timer: `scheduled-events-bridge-${name}.timer`,
}));
const source = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
/** A constant of the code that nothing exports. */
const inCode = (path: string, pattern: RegExp): string => pattern.exec(source(path))?.[1] ?? '';

describe('the units', () => {
  it('are those of both programs, the two that restart them for a new credential, and those of the timers', () => {
    const timed = jobs.flatMap(({ unit, timer }) => [unit, timer]);
    expect(unitNames().toSorted()).toEqual([agent, consumer, watch, restarter, ...timed].toSorted());
  });

  it.each(programs)('run `seb $name` on its usual configuration file', ({ name, unit }) => {
    expect(lastValueOf('ExecStart', unit)).toBe(
      `/usr/lib/scheduled-events-bridge/bin/seb ${name} -c ${defaultFile(name)}`,
    );
    expect(registry.map((command) => command.name)).toContain(name);
  });

  it('hand over no secret by environment or command line', () => {
    const keys = [...unitNames(), ...dropInNames()].flatMap((name) => readUnit(name).map(({ key }) => key));
    for (const key of ['EnvironmentFile', 'PassEnvironment', 'SetCredential', 'SetCredentialEncrypted'])
      expect(keys).not.toContain(key);
    const variables = [...unitNames(), ...dropInNames()].flatMap((name) => valuesOf('Environment', name));
    expect(variables.toSorted()).toEqual([
      'CREDENTIALS_DIRECTORY=%t/%N/credentials',
      ...Array<string>(4).fill('NODE_ENV=production'),
      'NODE_EXTRA_CA_CERTS=/etc/scheduled-events-bridge/proxy-ca.pem',
      'RETENTION=400d',
    ]);
  });

  it('let both programs keep their files as the same user, where their settings look for them', async () => {
    for (const key of ['User', 'DynamicUser', 'StateDirectory', 'StateDirectoryMode', 'UMask'])
      expect(lastValueOf(key, agent)).toBe(lastValueOf(key, consumer));
    const { stateDir } = validateConfiguration({}, 'agent.yaml', await agentSettingsFor({}));
    expect(stateDir).toBe(`/var/lib/${lastValueOf('StateDirectory', agent)}`);
    expect(defaultTrailPath).toMatch(new RegExp(`^${stateDir}/`));
    expect(lastValueOf('WorkingDirectory', agent)).toBe(stateDir);
  });

  it('hand over as credentials what the programs look for under that name', () => {
    const directory = inCode('src/config/secret.ts', /credentialDirectory = '([^']+)'/);
    const prefix = inCode('src/config/secret.ts', /credentialIdPrefix = '([^']+)'/);
    for (const { unit } of programs)
      expect(valuesOf('LoadCredential', unit)).toEqual([`${prefix.replace(/_$/, '')}:${directory}`]);
    expect(valuesOf('PathChanged', watch)[0]).toBe(directory);
  });

  it.each(programs)('start $name again without end, but not with a wrong configuration', ({ unit }) => {
    expect(lastValueOf('Restart', unit)).toBe('always');
    expect(lastValueOf('StartLimitIntervalSec', unit)).toBe('0');
    expect(lastValueOf('RestartPreventExitStatus', unit)).toBe(String(exitCodes.usage));
  });

  it.each(programs)('leave $name the time it takes itself to stop, and as much again', ({ unit }) => {
    const itsOwnMs = Number(inCode('src/cli.ts', /stopMsMax: ([\d_]+)/).replaceAll('_', ''));
    expect(itsOwnMs).toBeGreaterThan(0);
    expect(secondsOf(lastValueOf('TimeoutStopSec', unit)) * 1000).toBeGreaterThanOrEqual(2 * itsOwnMs);
  });

  it.each(programs)('watch $name for longer than it may be silent', ({ unit }) => {
    const silenceMs = Number(inCode('src/service-notify.ts', /silenceMsMax = ([\d_]+)/).replaceAll('_', ''));
    expect(silenceMs).toBeGreaterThan(0);
    expect(lastValueOf('Type', unit)).toBe('notify');
    expect(secondsOf(lastValueOf('WatchdogSec', unit)) * 1000).toBeGreaterThan(silenceMs);
  });

  it.each(programs)('kill a hanging $name without writing its memory to a core', ({ unit }) => {
    expect(lastValueOf('WatchdogSignal', unit)).toBe('SIGKILL');
    expect(lastValueOf('LimitCORE', unit)).toBe('0');
  });

  it('order the agent against the network alone, so that nothing waits for it unasked', () => {
    expect(wordsOf('After', agent)).toEqual(['network-online.target', 'nss-lookup.target']);
    expect(wordsOf('Wants', agent)).toContain('network-online.target');
    expect(valuesOf('Before', agent)).toEqual([]);
  });

  it('let the agent read the boot id, which ProcSubset=pid would hide', () => {
    expect(source('src/agent/host.ts')).toContain('/proc/sys/kernel/random/boot_id');
    expect(lastValueOf('ProcSubset', agent)).toBe('all');
  });

  it('say the reason of whatever is not plain', () => {
    const reasoned = [
      'StartLimitIntervalSec',
      'NotifyAccess',
      'TimeoutStopSec',
      'WatchdogSec',
      'WatchdogSignal',
    ]
      .concat([
        'RestartPreventExitStatus',
        'OOMScoreAdjust',
        'LoadCredential',
        'UnsetEnvironment',
        'ProcSubset',
      ])
      .concat(['RestrictAddressFamilies', 'SystemCallErrorNumber', 'MemoryDenyWriteExecute', 'NoExecPaths'])
      .concat(['IPAddressDeny', 'SocketBindDeny', 'LogsDirectory', 'Wants']);
    const why = new Map(readUnit(agent).map((each) => [each.key, each.why]));
    for (const key of reasoned) expect(`${key}: ${why.get(key)}`).toMatch(/: .{15,}/);
  });
});

describe('the example for the consumer', () => {
  it('is accepted, also with its key and anchors no longer comments', () => {
    const example = source('infra/packages/examples/consumer.yaml');
    const whole = example.replaceAll(/^# (?=(?:signing|anchors):)/gm, '');
    expect(whole).not.toBe(example);
    for (const text of [example, whole]) {
      const settings = parseConfiguration(text, 'consumer.yaml', consumerSchema);
      expect(settings.signing === undefined).toBe(text === example);
      expect(settings.anchors).toHaveLength(text === example ? 0 : 1);
    }
  });
});

describe('the sandbox', () => {
  it.each(programs)(
    'of $name lets it listen on the usual port of its status page',
    async ({ name, unit }) => {
      const schema = name === 'agent' ? await agentSettingsFor({}) : consumerSchema;
      const hub = { fullyQualifiedNamespace: 'example.servicebus.windows.net', eventHubName: 'hub' };
      const content = name === 'agent' ? { status: {} } : { status: {}, hub };
      const { status } = validateConfiguration(content, name, schema);
      expect(valuesOf('SocketBindAllow', unit)).toEqual([`tcp:${status?.listen.port}`]);
      expect(valuesOf('SocketBindDeny', unit)).toEqual(['any']);
    },
  );

  it.each(programs)(
    'of $name lets it ask the metadata service, and nothing else that is link-local',
    ({ unit }) => {
      expect(wordsOf('IPAddressAllow', unit)).toEqual([`${new URL(imdsAddress).hostname}/32`]);
      expect(wordsOf('IPAddressDeny', unit)).toEqual(['link-local', 'multicast']);
    },
  );

  it.each(programs)('of $name lets it run itself, systemd-notify and libraries, and no shell', ({ unit }) => {
    expect(wordsOf('NoExecPaths', unit)).toEqual(['/']);
    const paths = wordsOf('ExecPaths', unit).map((path) => path.replace(/^-/, ''));
    expect(paths).toEqual(
      expect.arrayContaining(['/usr/lib/scheduled-events-bridge/bin', '/usr/bin/systemd-notify']),
    );
    expect(paths.filter((path) => /^\/(usr\/)?s?bin(\/(sh|bash|dash))?$/.test(path))).toEqual([]);
    // Where a distribution lacks one of these, the service would not start but for the dash.
    const always = ['/usr/lib/scheduled-events-bridge/bin'];
    // Distributions keep programs there, too, a busybox or the shell of an initramfs among them.
    expect(paths).not.toContain('/usr/lib');
    expect(paths).not.toContain('/lib');
    expect(wordsOf('ExecPaths', unit).filter((path) => !path.startsWith('-'))).toEqual(always);
  });

  it('lets the agent run what its reload runs', () => {
    const program = lastValueOf('ExecReload', agent)?.split(' ')[0];
    expect(wordsOf('ExecPaths', agent)).toContain(`-${program}`);
  });
});

describe.each(jobs)('the timer of `seb audit $name`', ({ name, unit, timer }) => {
  it('starts it, at a time of its own, and also when the machine was off then', () => {
    expect(unit.replace('.service', '')).toBe(timer.replace('.timer', ''));
    expect(lastValueOf('OnCalendar', timer)).toBe(name === 'verify' ? 'daily' : 'weekly');
    expect(lastValueOf('Persistent', timer)).toBe('yes');
    expect(secondsOf(lastValueOf('RandomizedDelaySec', timer))).toBeGreaterThanOrEqual(600);
  });

  it('is what somebody enables: nothing else starts it', () => {
    expect(wordsOf('WantedBy', timer)).toEqual(['timers.target']);
    expect(valuesOf('WantedBy', unit)).toEqual([]);
    const wanted = unitNames().flatMap((each) => [...wordsOf('Wants', each), ...wordsOf('Requires', each)]);
    expect(wanted.filter((each) => each === unit || each === timer)).toEqual([]);
  });

  it('runs a command that there is, with the options that it has, on the file of the consumer', async () => {
    const [program, ...words] = wordsOf('ExecStart', unit);
    expect(program).toBe('/usr/lib/scheduled-events-bridge/bin/seb');
    expect(words.slice(0, 4)).toEqual(['audit', name, '-c', defaultFile('consumer')]);
    const line = registry.find((each) => each.name === `audit ${name}`);
    const retention = valuesOf('Environment', unit).find((each) => each.startsWith('RETENTION='));
    const rest = words.slice(2).map((word) => word.replace(/\$\{RETENTION\}/, retention?.slice(10) ?? word));
    const command = await line?.load();
    expect(command && readArguments(command, rest)).toBeDefined();
  });

  it('says by its own failure what the command found', () => {
    expect(lastValueOf('Type', unit)).toBe('oneshot');
    const keys = readUnit(unit).map(({ key }) => key);
    for (const key of ['SuccessExitStatus', 'Restart', 'RemainAfterExit']) expect(keys).not.toContain(key);
    expect(lastValueOf('ExecStart', unit)).not.toMatch(/^-/);
  });

  it('is the same user as the consumer, in the same sandbox, and gives way to everything else', () => {
    const apart = ['ExecPaths', 'SocketBindAllow', 'Environment', 'ExecStart', 'Type'];
    const own = [
      'MemoryHigh',
      'MemoryMax',
      'SyslogIdentifier',
      'TimeoutStartSec',
      'WantedBy',
      'After',
      'Wants',
    ];
    const ofProgram = [
      /^Watchdog/,
      /^Restart/,
      /^KillMode$/,
      /^NotifyAccess$/,
      /^TimeoutStop/,
      /^StartLimit/,
    ];
    const keys = readUnit(consumer)
      .map(({ key }) => key)
      .filter((key) => ![...apart, ...own, 'Description'].includes(key))
      .filter((key) => !ofProgram.some((pattern) => pattern.test(key)));
    expect(keys).toContain('DynamicUser');
    for (const key of keys) expect([key, valuesOf(key, unit)]).toEqual([key, valuesOf(key, consumer)]);
    expect(wordsOf('ExecPaths', unit)).not.toContain('-/usr/bin/systemd-notify');
    expect(valuesOf('SocketBindAllow', unit)).toEqual([]);
    expect(lastValueOf('Nice', unit)).toBe('19');
  });
});

describe('a new credential', () => {
  it('restarts both programs and nothing else, and waits for none', () => {
    expect(lastValueOf('ExecStart', restarter)).toBe(
      `/bin/systemctl --no-block try-restart ${agent} ${consumer}`,
    );
  });

  it('is always noticed: no limit of starts ends the watching', () => {
    expect(lastValueOf('StartLimitIntervalSec', restarter)).toBe('0');
  });

  it.each(programs)('is watched for while $name runs', ({ unit }) => {
    expect(wordsOf('Wants', unit)).toContain(watch);
    expect(lastValueOf('StopWhenUnneeded', watch)).toBe('yes');
  });
});

describe('a drop-in', () => {
  it.each(dropInNames())('%s says what it is for, and where it goes', (name) => {
    const text = unitText(name);
    const head = text.slice(0, text.indexOf('['));
    const file = name.replace('drop-ins/', '');
    expect(head).toMatch(/^# (For|Has) /);
    expect(head).toContain(`As /etc/systemd/system/${agent}.d/${file}`);
  });

  it('for private endpoints denies all but this machine, the resolver of Azure and what is to be changed', () => {
    const name = 'drop-ins/egress-private-endpoint.conf';
    expect(wordsOf('IPAddressDeny', name)).toEqual(['any']);
    const [always, toChange] = readUnit(name).filter(({ key }) => key === 'IPAddressAllow');
    expect(always?.value.split(' ')).toEqual(['localhost', '168.63.129.16/32']);
    expect(toChange?.why).toMatch(/^CHANGE THIS/);
  });

  it('for a proxy lets its authority in, and none of the other variables', () => {
    const whole = wordsOf('UnsetEnvironment', agent);
    expect(whole).toContain('NODE_OPTIONS');
    expect(wordsOf('UnsetEnvironment', agent, 'drop-ins/proxy.conf')).toEqual(
      whole.filter((name) => name !== 'NODE_EXTRA_CA_CERTS'),
    );
  });

  it('for a passed descriptor believes the main process alone', () => {
    const name = 'drop-ins/notify-descriptor.conf';
    expect(lastValueOf('OpenFile', name)).toBe('/run/systemd/notify:notify');
    expect(lastValueOf('NotifyAccess', name)).toBe('main');
    expect(source('src/service-channel.ts')).toContain('LISTEN_FDNAMES');
  });

  it.each(['drop-ins/older-systemd.conf', 'drop-ins/encrypted-credentials.conf'])(
    '%s takes the place of the usual credentials',
    (name) => {
      expect(valuesOf('LoadCredential', agent, name)).toEqual([]);
    },
  );

  it('for encrypted credentials names them as the program looks for them, and they are watched too', () => {
    const [, id, directory = ''] =
      /^(\w+):(.+)$/.exec(
        lastValueOf('LoadCredentialEncrypted', 'drop-ins/encrypted-credentials.conf') ?? '',
      ) ?? [];
    expect(`${id}_`).toBe(inCode('src/config/secret.ts', /credentialIdPrefix = '([^']+)'/));
    expect(valuesOf('PathChanged', watch)).toContain(directory);
  });
});

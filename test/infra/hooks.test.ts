// The ready-made hooks, run by their own shell against stand-ins for the programs that they call.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { planOf } from '../../scripts/package/artefacts.ts';
import { payloadOf } from '../../scripts/package/payload.ts';
import { hookScripts } from '../support/hooks.ts';
import { pageText } from '../support/markdown.ts';
import { projectRoot } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { readUnit, valuesOf } from './unit-file.ts';

const folder = join(projectRoot, 'infra/hooks');
const examples = readdirSync(folder).filter((name) => name.endsWith('.sh'));

/** A place with stand-ins: each says how it was called, and the files of `state` are what it knows. */
function openStage() {
  const directory = temporaryDirectory();
  const { script, said, at } = hookScripts(directory.path);
  const env = { PATH: `${at('bin')}:/usr/bin:/bin`, SEB_HOOK_STATE: at('state'), RETRY_SECONDS: '0.1' };
  return {
    at,
    said,
    stub: (name: string, text: string) => script(`bin/${name}`, `STATE='${directory.path}'\n${text}`),
    run(
      name: string,
      phase: 'prepare' | 'recover',
      more: { event?: string; words?: string[]; env?: object } = {},
    ) {
      const { status, stdout, stderr } = spawnSync(join(folder, name), more.words ?? [], {
        encoding: 'utf8',
        env: {
          ...env,
          SEB_PHASE: phase,
          SEB_EVENT_ID: more.event ?? 'A-1',
          SEB_TIMEOUT_SECONDS: '60',
          ...more.env,
        },
        timeout: 15_000,
      });
      return { status, text: stdout + stderr };
    },
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

/** A service manager that knows one service. */
const systemctl = `
case $1 in
is-active) [ -e "$STATE/active" ] ;;
stop) say "stop $2"; rm -f "$STATE/active" ;;
start) say "start $2"; : > "$STATE/active" ;;
reload) say "reload $2" ;;
esac`;

describe.each(['drain-service.sh', 'flush-and-stop.sh'])('%s', (name) => {
  const words = ['web.service', '/bin/true'];

  it('stops a service that runs, and starts it again; twice does no more', () => {
    using stage = openStage();
    stage.stub('systemctl', systemctl);
    writeFileSync(stage.at('active'), '');
    for (const _ of [1, 2]) expect(stage.run(name, 'prepare', { words }).status).toBe(0);
    expect(stage.said()).toEqual(['stop web.service']);
    for (const _ of [1, 2]) expect(stage.run(name, 'recover', { words }).status).toBe(0);
    expect(stage.said()).toEqual(['stop web.service', 'start web.service']);
  });

  it('leaves a service alone that did not run', () => {
    using stage = openStage();
    stage.stub('systemctl', systemctl);
    expect(stage.run(name, 'prepare', { words }).text).toContain('does not run');
    expect(stage.run(name, 'recover', { words }).text).toContain('was not stopped by this hook');
    expect(stage.said()).toEqual([]);
  });

  it('keeps it stopped until the last of several events is over, whatever their ids look like', () => {
    using stage = openStage();
    stage.stub('systemctl', systemctl);
    writeFileSync(stage.at('active'), '');
    const second = { words, event: '../../$(reboot) x' };
    stage.run(name, 'prepare', { words });
    stage.run(name, 'prepare', second);
    expect(stage.run(name, 'recover', { words }).text).toContain('stays stopped');
    expect(stage.run(name, 'recover', second).text).toContain('is started');
    expect(stage.said()).toEqual(['stop web.service', 'start web.service']);
  });

  it('fails when the service does not stop', () => {
    using stage = openStage();
    stage.stub('systemctl', `[ "$1" = is-active ] || { echo no >&2; exit 5; }`);
    expect(stage.run(name, 'prepare', { words })).toMatchObject({
      status: 5,
      text: expect.stringContaining('no'),
    });
  });
});

it('flush-and-stop.sh flushes before it stops, and stops also what could not be flushed in time, and says so', () => {
  using stage = openStage();
  stage.stub('systemctl', systemctl);
  const flush = stage.stub('flush', 'say flush');
  writeFileSync(stage.at('active'), '');
  expect(stage.run('flush-and-stop.sh', 'prepare', { words: ['web.service', flush] }).status).toBe(0);
  expect(stage.said()).toEqual(['flush', 'stop web.service']);
  writeFileSync(stage.at('active'), '');
  const slow = stage.stub('slow', 'exec sleep 30');
  const late = { words: ['web.service', slow], env: { FLUSH_SECONDS: '0.3' } };
  expect(stage.run('flush-and-stop.sh', 'prepare', late)).toMatchObject({
    status: 1,
    text: expect.stringContaining('is stopped, but'),
  });
  expect(stage.said().at(-1)).toBe('stop web.service');
});

describe('nginx-upstream.sh', () => {
  const upstream = `upstream app {
    server 10.0.0.4:8080 weight=5;
    server 10.0.0.40:8080;
    server 10.0.0.5:8080 down;
}
`;
  const inPlay = (nginx: string) => {
    const stage = openStage();
    stage.stub('systemctl', systemctl);
    stage.stub('nginx', nginx);
    const file = stage.at('app.conf');
    writeFileSync(file, upstream);
    const run = (phase: 'prepare' | 'recover', server = '10.0.0.4:8080', event = 'A-1') =>
      stage.run('nginx-upstream.sh', phase, { words: [server, file], event, env: { GRACE_SECONDS: '0' } });
    return { ...stage, run, file, text: () => readFileSync(file, 'utf8') };
  };

  it('marks its server as down, and no other, and takes only its own mark away', () => {
    using stage = inPlay('true');
    for (const _ of [1, 2]) expect(stage.run('prepare').status).toBe(0);
    expect(stage.text()).toBe(upstream.replace('weight=5;', 'weight=5 down; # by scheduled-events-bridge'));
    expect(stage.said()).toEqual(['reload nginx']);
    for (const _ of [1, 2]) expect(stage.run('recover').status).toBe(0);
    expect(stage.text()).toBe(upstream);
    expect(stage.said()).toEqual(['reload nginx', 'reload nginx']);
    stage.run('prepare', '10.0.0.5:8080');
    stage.run('recover', '10.0.0.5:8080');
    expect(stage.text()).toBe(upstream);
  });

  it('keeps it down until the last of several events is over', () => {
    using stage = inPlay('true');
    for (const event of ['A-1', 'B-2']) stage.run('prepare', '10.0.0.4:8080', event);
    expect(stage.run('recover').text).toContain('stays out');
    expect(stage.text()).not.toBe(upstream);
    stage.run('recover', '10.0.0.4:8080', 'B-2');
    expect(stage.text()).toBe(upstream);
  });

  it('leaves the file as it was when nginx does not take the changed one', () => {
    using stage = inPlay('echo bad >&2; exit 1');
    expect(stage.run('prepare')).toMatchObject({ status: 1, text: expect.stringContaining('as it was') });
    expect(stage.text()).toBe(upstream);
    expect(stage.said()).toEqual([]);
  });
});

describe('kubernetes-drain.sh', () => {
  /** An API that knows one node: whether it is cordoned, and the annotation. */
  const kubectl = `
case $1 in
get)
	[ ! -e "$STATE/down" ] || { rm "$STATE/down"; echo unreachable >&2; exit 1; }
	case $5 in *unschedulable*) [ ! -e "$STATE/cordoned" ] || printf true ;; *) cat "$STATE/annotation" 2> /dev/null || true ;; esac ;;
annotate) for word in "$@"; do case $word in *cordoned-for=*) printf %s "\${word#*=}" > "$STATE/annotation" ;; *cordoned-for-) rm -f "$STATE/annotation" ;; esac; done ;;
cordon) say cordon; : > "$STATE/cordoned" ;;
uncordon) say uncordon; rm -f "$STATE/cordoned" ;;
drain) say "$*"; [ ! -e "$STATE/budget" ] ;;
esac`;
  const inPlay = () => {
    const stage = openStage();
    stage.stub('kubectl', kubectl);
    const env = { SEB_HOOK_STATE: stage.at('.') };
    const run = (phase: 'prepare' | 'recover', event = 'A-1') =>
      stage.run('kubernetes-drain.sh', phase, { words: ['node-1'], event, env });
    return { ...stage, run, mark: (name: string) => writeFileSync(stage.at(name), '') };
  };
  const drain = 'drain node-1 --ignore-daemonsets --delete-emptydir-data --timeout=55s';

  it('cordons and drains, within its own time, and uncordons; twice does no harm', () => {
    using stage = inPlay();
    for (const _ of [1, 2]) expect(stage.run('prepare').status).toBe(0);
    expect(stage.said()).toEqual(['cordon', drain, 'cordon', drain]);
    for (const _ of [1, 2]) expect(stage.run('recover').status).toBe(0);
    expect(stage.said().slice(4)).toEqual(['uncordon']);
  });

  it('does not uncordon what somebody else has cordoned', () => {
    using stage = inPlay();
    stage.mark('cordoned');
    expect(stage.run('prepare').text).toContain('by somebody else');
    expect(stage.run('recover').text).toContain('was not cordoned by this hook');
    expect(stage.said()).toEqual([drain]);
  });

  it('keeps it cordoned until the last of several events is over', () => {
    using stage = inPlay();
    for (const event of ['A-1', 'B-2']) stage.run('prepare', event);
    expect(stage.run('recover').text).toContain('stays cordoned');
    stage.run('recover', 'B-2');
    expect(stage.said().filter((line) => line === 'uncordon')).toHaveLength(1);
  });

  it('fails with a drain that fails, and when nobody answers; to recover it goes on trying', () => {
    using stage = inPlay();
    stage.mark('down');
    expect(stage.run('prepare').status).not.toBe(0);
    expect(stage.said()).toEqual([]);
    stage.mark('budget');
    expect(stage.run('prepare').status).not.toBe(0);
    stage.mark('down');
    expect(stage.run('recover').status).toBe(0);
    expect(stage.said().at(-1)).toBe('uncordon');
  });
});

describe('postgresql-failover.sh', () => {
  const psql = 'if [ -e "$STATE/standby" ]; then echo t; else echo f; fi';

  it('has another server take over where this one is the primary, and waits until it has', () => {
    using stage = openStage();
    stage.stub('psql', psql);
    stage.stub('patronictl', 'say "$*"; : > "$STATE/standby"');
    stage.stub('uname', 'echo db-1');
    const run = stage.run('postgresql-failover.sh', 'prepare');
    expect(run).toEqual({ status: 0, text: 'another server is the primary now\n' });
    expect(stage.said()).toEqual(['-c /etc/patroni/patroni.yml switchover main --leader db-1 --force']);
    expect(stage.run('postgresql-failover.sh', 'prepare').text).toContain('not the primary');
    expect(stage.run('postgresql-failover.sh', 'recover')).toEqual({ status: 0, text: '' });
    expect(stage.said()).toHaveLength(1);
  });

  it('fails when nobody takes over, and when the server does not answer', () => {
    using stage = openStage();
    stage.stub('psql', psql);
    stage.stub('patronictl', 'echo "no candidate" >&2; exit 1');
    expect(stage.run('postgresql-failover.sh', 'prepare').status).toBe(1);
    stage.stub('psql', 'echo "no server" >&2; exit 2');
    expect(stage.run('postgresql-failover.sh', 'prepare').status).toBe(2);
  });
});

describe('redis-failover.sh', () => {
  const redis = `
case $* in
*ROLE) cat "$STATE/role" 2> /dev/null || { echo "could not connect" >&2; exit 1; } ;;
*FAILOVER*) say "$*"; cat "$STATE/answer"; echo slave > "$STATE/role" ;;
esac`;
  const inPlay = (role: string, answer = 'OK') => {
    const stage = openStage();
    stage.stub('redis-cli', redis);
    if (role !== '') writeFileSync(stage.at('role'), `${role}\n0\n`);
    writeFileSync(stage.at('answer'), `${answer}\n`);
    return { ...stage, run: (phase: 'prepare' | 'recover') => stage.run('redis-failover.sh', phase) };
  };

  it('has a replica take over where this one is the master, and nothing where it is not', () => {
    using stage = inPlay('master');
    expect(stage.run('prepare')).toEqual({ status: 0, text: 'a replica is the master now\n' });
    expect(stage.said()).toEqual(['-h 127.0.0.1 -p 26379 SENTINEL FAILOVER mymaster']);
    expect(stage.run('prepare').text).toContain('is no master: slave');
    expect(stage.run('recover')).toEqual({ status: 0, text: '' });
    expect(stage.said()).toHaveLength(1);
  });

  it('fails when the Sentinel refuses, which its client calls success, and when Redis does not answer', () => {
    using refusing = inPlay('master', 'NOGOODSLAVE No suitable replica to promote');
    expect(refusing.run('prepare')).toMatchObject({
      status: 1,
      text: expect.stringContaining('NOGOODSLAVE'),
    });
    using silent = inPlay('');
    expect(silent.run('prepare').status).not.toBe(0);
  });
});

describe('every example', () => {
  it.each(examples)('%s says in its first lines what it does and how it is set, and can be run', (name) => {
    const lines = readFileSync(join(folder, name), 'utf8').split('\n');
    expect(lines[0]).toBe('#!/bin/sh');
    expect(lines[1]).toMatch(/^# [A-Z].{30,}/);
    expect(lines.slice(1, 8).join(' ')).toContain(`/usr/local/lib/seb-hooks/${name}`);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o755);
  });

  it.each(examples)('%s stands in the table', (name) => {
    expect(pageText('infra/hooks/README.md')).toContain(`| [${name}](${name}) |`);
  });

  it('is installed with the documentation, and so is the drop-in that lets hooks run', async () => {
    const plan = planOf({ architecture: 'x64', outDirectory: '/nowhere' });
    const paths = (await payloadOf(plan)).map(({ path }) => path);
    const shipped = [...examples.map((name) => `hooks/${name}`), 'hooks/README.md', 'drop-ins/hooks.conf'];
    for (const name of shipped)
      expect(paths).toContain(`usr/share/doc/scheduled-events-bridge/examples/${name}`);
  });
});

describe('the rule for polkit', () => {
  type Rule = (action: { id: string; lookup(name: string): string }, subject: { user: string }) => string;
  const rules: Rule[] = [];
  const polkit = {
    addRule: (rule: Rule) => rules.push(rule),
    Result: { YES: 'yes', NOT_HANDLED: 'not handled' },
  };
  runInNewContext(readFileSync(join(folder, '50-scheduled-events-bridge.rules'), 'utf8'), { polkit });
  const asked = (user: string, unit: string, verb: string, id = 'org.freedesktop.systemd1.manage-units') =>
    rules.map((rule) => rule({ id, lookup: (name) => ({ unit, verb })[name] ?? '' }, { user }));

  it('lets the agent’s user stop and start the units that are named, and nobody and nothing else', () => {
    const own = 'scheduled-events-bridge';
    expect(asked(own, 'app.service', 'stop')).toEqual(['yes']);
    expect(asked(own, 'app.service', 'start')).toEqual(['yes']);
    expect(asked(own, 'nginx.service', 'reload')).toEqual(['yes']);
    expect(asked(own, 'app.service', 'kill')).toEqual(['not handled']);
    expect(asked(own, 'ssh.service', 'stop')).toEqual(['not handled']);
    expect(asked('www-data', 'app.service', 'stop')).toEqual(['not handled']);
    expect(asked(own, 'app.service', 'stop', 'org.freedesktop.login1.reboot')).toEqual(['not handled']);
  });
});

describe('the drop-in for hooks', () => {
  const name = 'drop-ins/hooks.conf';

  it('loosens which programs may run and the limits, gives a reason for each, and nothing else', () => {
    const keys = readUnit(name).map(({ key }) => key);
    expect(keys).toEqual(['NoExecPaths', 'ExecPaths', 'MemoryHigh', 'MemoryMax', 'TasksMax', 'CPUQuota']);
    const reasons = readUnit(name).filter(({ why }) => why.length > 15);
    expect(reasons.map(({ key }) => key)).toEqual(['NoExecPaths', 'MemoryHigh']);
    const agent = 'scheduled-events-bridge-agent.service';
    expect(valuesOf('NoExecPaths', agent, name)).toEqual([]);
    expect(valuesOf('ExecPaths', agent, name)).toEqual([]);
  });
});

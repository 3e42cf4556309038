// Whether the image holds what it must and no more, and its programs run as the manifests have them run.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IDaemonSet, IDeployment } from 'kubernetes-models/apps/v1';
import type { IContainer, IPodSpec } from 'kubernetes-models/v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import metadata from '../../package.json' with { type: 'json' };
import { buildKustomization } from '../infra/kustomization.ts';
import { projectRoot } from '../support/source-files.ts';
import { until } from '../support/until.ts';
import { type ClusterNode, openClusterNode, type RunningContainer, runAsRoot } from './cluster-node.ts';
import { buildImage, buildIngredients, type Image, type Ingredients, unpackImage } from './oci-image.ts';
import { runtimeConfiguration, type Volumes } from './oci-runtime.ts';

const directory = mkdtempSync(join(tmpdir(), 'seb-image-'));
let ingredients: Ingredients;
let image: Image;
/** Every path of the image, as the archive has them: `/seb`. */
let files: string[];
let digest: string;

beforeAll(async () => {
  ingredients = await buildIngredients(directory);
  const archive = join(directory, 'image.tar');
  const { exitCode, stdout, stderr } = await buildImage(ingredients, archive);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  digest = stdout.trim();
  mkdirSync(join(directory, 'image'));
  image = await unpackImage(archive, join(directory, 'image'));
  files = readdirSync(image.root, { recursive: true, encoding: 'utf8' }).map((path) => `/${path}`);
});

afterAll(() => runAsRoot(['rm', '-rf', directory]));

const within = (path: string): string => join(image.root, path);
const libraryFolder = '/lib/x86_64-linux-gnu';
const loader = '/lib64/ld-linux-x86-64.so.2';
const stateDirectory = '/var/lib/scheduled-events-bridge';

describe('the image', () => {
  it('says what it is, and runs as nobody in particular', () => {
    const { architecture, os, config } = image.configuration;
    expect({ architecture, os }).toEqual({ architecture: 'amd64', os: 'linux' });
    expect(config).toMatchObject({ User: '65532:65532', Entrypoint: ['/seb'], WorkingDir: stateDirectory });
    expect(config).toMatchObject({ StopSignal: 'SIGTERM' });
    expect(config.Cmd).toBeUndefined();
    expect(config.Labels).toMatchObject({
      'org.opencontainers.image.version': metadata.version,
      'org.opencontainers.image.revision': 'of-a-test',
      'org.opencontainers.image.licenses': expect.stringMatching(/^MIT AND /),
    });
  });

  it('is the same again from the same files, byte for byte', async () => {
    const again = await buildImage(ingredients, join(directory, 'again.tar'));
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(again.stdout.trim()).toBe(digest);
    const bytes = (name: string): Buffer => readFileSync(join(directory, name));
    expect(bytes('again.tar').equals(bytes('image.tar'))).toBe(true);
  });

  it('holds two programs: its own, and the loader that every program needs', () => {
    const programs = files.filter((path) => {
      const { mode } = statSync(within(path));
      return statSync(within(path)).isFile() && (mode & 0o111) !== 0;
    });
    expect(programs.toSorted()).toEqual([loader, '/seb']);
    const links = execFileSync('find', [image.root, '-not', '-type', 'd', '-not', '-type', 'f'], {
      encoding: 'utf8',
    });
    expect(links).toBe('');
  });

  it('has nothing that its user may write to but the place of the volume, and nothing that gives rights away', () => {
    for (const path of files) {
      const { mode, uid, gid } = statSync(within(path));
      const owner = [stateDirectory, '/keys'].includes(path) ? 65532 : 0;
      expect({ path, uid, gid }).toEqual({ path, uid: owner, gid: owner });
      expect(mode & 0o6022, path).toBe(0);
    }
  });

  it('has a folder that its user alone can enter, for signing keys that come in files which everybody may read', () => {
    expect(statSync(within('/keys')).mode & 0o7777).toBe(0o500);
  });

  it('names its user, so that programs may ask who they are', () => {
    const names = readFileSync(within('/etc/passwd'), 'utf8').split('\n');
    expect(names).toContainEqual(expect.stringMatching(/^scheduled-events-bridge:x:65532:65532:/));
  });

  it('records the packages of its libraries where scanners look, with their copyright', () => {
    for (const name of ['libc6', 'libgcc-s1', 'libstdc++6']) {
      const record = readFileSync(within(`/var/lib/dpkg/status.d/${name}`), 'utf8');
      expect(record).toMatch(new RegExp(`^Package: ${name.replaceAll('+', '\\+')}\nVersion: \\d`));
      expect(readFileSync(within(`/usr/share/doc/${name}/copyright`), 'utf8')).toMatch(/license/i);
    }
    expect(readFileSync(within('/etc/os-release'), 'utf8')).toMatch(/^ID=/m);
    const notices = readFileSync(
      within('/usr/share/doc/scheduled-events-bridge/THIRD-PARTY-LICENSES.txt'),
      'utf8',
    );
    expect(notices).toContain('undici');
  });

  it.each([
    ['an executable of another machine', ['--arch', 'arm64'], 'is no Linux program for arm64'],
    ['an architecture that does not exist', ['--arch', 'x86'], 'the architecture is x64 or arm64'],
  ])('is not made of %s', async (_, options, complaint) => {
    const { exitCode, stdout, stderr } = await buildImage(ingredients, join(directory, 'wrong.tar'), options);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(complaint);
  });
});

const manifests = ['agent', 'consumer'].flatMap((name) =>
  buildKustomization(join(projectRoot, 'infra/kubernetes/example', name)),
);

function manifest<Kind>(kind: string): Kind {
  return manifests.find((each) => each.kind === kind) as Kind;
}

function podOf(workload: IDaemonSet | IDeployment): IPodSpec {
  const pod = workload.spec?.template.spec;
  if (pod === undefined) throw new Error('there is no pod');
  return pod;
}

const agentPod = podOf(manifest<IDaemonSet>('DaemonSet'));
const consumerPod = podOf(manifest<IDeployment>('Deployment'));

const configOf = (file: string): object =>
  parse(manifests.find(({ data }) => data?.[file] !== undefined)?.data?.[file] ?? '') as object;

const imdsPort = 8169;
const emulator = `http://127.0.0.1:${imdsPort}`;

describe('on a node', () => {
  let node: ClusterNode;
  let emulators: RunningContainer[];
  let connectionString: string;

  beforeAll(async () => {
    node = await openClusterNode(directory);
    const start = (args: string[]): RunningContainer => node.start(plain(args));
    const imds = start(['emulate', 'imds', '--port', String(imdsPort)]);
    const hub = start(['emulate', 'eventhubs', '--port', '5671']);
    emulators = [imds, hub];
    await Promise.all([imds.until('"url"'), hub.until('connectionString')]);
    connectionString = JSON.parse(hub.output().stdout).connectionString;
  });

  afterAll(async () => {
    for (const each of emulators) await each.signal('KILL');
    await node[Symbol.asyncDispose]();
  });

  /** A container as strict as the agent's, with nothing mounted. */
  const plain = (args: string[]): object =>
    runtimeConfiguration(image, agentPod, { ...mainOf(agentPod), args, volumeMounts: [] }, {});

  const configurationOf = (pod: IPodSpec, container: IContainer, volumes: Volumes): object =>
    runtimeConfiguration(image, pod, container, volumes);

  /** What the kubelet asks the container, by the manifest. */
  async function probe(kind: 'livenessProbe' | 'readinessProbe', pod: IPodSpec): Promise<string> {
    const { httpGet } = mainOf(pod)[kind] ?? {};
    const port = mainOf(pod).ports?.find(({ name }) => name === httpGet?.port)?.containerPort;
    const url = `http://${httpGet?.host ?? '127.0.0.1'}:${port}${httpGet?.path}`;
    const script = `fetch(${JSON.stringify(url)}).then(({ status }) => console.log(status), () => console.log('none'))`;
    return (await node.run([process.execPath, '-e', script])).stdout.trim();
  }

  it('tells its version', async () => {
    const { exitCode, stdout } = await node.runContainer(plain(['--version']));
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${metadata.version}\n` });
  });

  it('has exactly the libraries that the executable is linked with', async () => {
    const container = { ...mainOf(agentPod), command: [loader], args: ['--list', '/seb'], volumeMounts: [] };
    const { exitCode, stdout } = await node.runContainer(
      runtimeConfiguration(image, agentPod, container, {}),
    );
    expect(exitCode).toBe(0);
    const used = [...stdout.matchAll(/=> (\/\S+)/g)].map(([, path]) => path);
    expect(used.toSorted()).toEqual(files.filter((path) => path.startsWith(`${libraryFolder}/`)).toSorted());
  });

  it('runs the agent of the DaemonSet: its queue outlives the pod, and it ends with 0 when it is told to', async () => {
    const volumes = agentVolumes('first');
    const agent = () => node.start(configurationOf(agentPod, mainOf(agentPod), volumes));
    await expect(
      node.runContainer(configurationOf(agentPod, initOf(agentPod), volumes)),
    ).resolves.toMatchObject({
      exitCode: 0,
    });
    for (const turn of [1, 2]) {
      await using running = agent();
      await until('ready', async () => (await probe('readinessProbe', agentPod)) === '200');
      expect(await probe('livenessProbe', agentPod)).toBe('200');
      if (turn === 1) await expectToBeConfined(running);
      await expectToAnswer(agentPod, ['outbox', 'list'], volumes);
      await until('its record', () => recordsOf(volumes).length >= turn);
      await running.signal('TERM');
      expect(await running.ended(), running.output().stderr).toBe(0);
    }
    expect(recordsOf(volumes).map(({ data }) => data.agent.sequence)).toEqual([1, 2]);
    expect(new Set(recordsOf(volumes).map(({ source }) => source)).size).toBe(1);
  });

  it('does not let the agent into a folder as the kubelet makes it: the init container is what opens it', async () => {
    const volumes = agentVolumes('unprepared');
    const { exitCode, stderr } = await node.runContainer(
      configurationOf(agentPod, mainOf(agentPod), volumes),
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${stateDirectory} (stateDir) cannot be used`);
  });

  it('lets the agent read the keys of a Secret as its credentials', async () => {
    const volumes = agentVolumes('credentials');
    const container = { ...mainOf(agentPod), args: ['sink', 'test', 'hook'] };
    const ended = await node.runContainer(configurationOf(agentPod, container, volumes));
    // The emulator is no receiver: that it says so proves that the address in the Secret was read.
    expect(ended.stdout + ended.stderr).toContain('http-400');
  });

  it('runs the consumer of the Deployment: its trail is on the volume, and it ends with 0 when it is told to', async () => {
    const volumes = consumerVolumes();
    await using running = node.start(configurationOf(consumerPod, mainOf(consumerPod), volumes));
    await until('ready', async () => (await probe('readinessProbe', consumerPod)) === '200');
    expect(await probe('livenessProbe', consumerPod)).toBe('200');
    await expectToBeConfined(running);
    await expectToAnswer(consumerPod, ['events'], volumes);
    expect(statSync(join(volumes['trail'] ?? '', 'trail.db')).uid).toBe(65532);
    await running.signal('TERM');
    expect(await running.ended(), running.output().stderr).toBe(0);
  });

  /** What a person asks with `kubectl exec`, beside the program. */
  async function expectToAnswer(pod: IPodSpec, args: string[], volumes: Volumes): Promise<void> {
    const container = { ...mainOf(pod), args };
    const { exitCode, stderr } = await node.runContainer(configurationOf(pod, container, volumes));
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  }

  /** The kernel's word for what the process may do. */
  async function expectToBeConfined(running: RunningContainer): Promise<void> {
    const status = await running.proc('status');
    const field = (name: string): string => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '';
    expect(field('NSpid').split('\t').at(-1)).toBe('1');
    expect({ uid: field('Uid'), gid: field('Gid') }).toEqual({
      uid: Array(4).fill('65532').join('\t'),
      gid: Array(4).fill('65532').join('\t'),
    });
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) expect(field(set)).toMatch(/^0+$/);
    expect({ noNewPrivileges: field('NoNewPrivs'), seccomp: field('Seccomp') }).toEqual({
      noNewPrivileges: '1',
      seccomp: '2',
    });
    const writable = (await running.proc('mountinfo'))
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([, , , , , options = 'ro']) => options.split(',').includes('rw'))
      .map(([, , , , place]) => place ?? '');
    const files = writable.filter((place) => !/^\/(proc|dev)(\/|$)/.test(place));
    expect(files).toEqual([stateDirectory]);
  }

  function agentVolumes(name: string): Volumes {
    const place = join(directory, name);
    for (const each of ['config', 'state', 'credentials']) mkdirSync(join(place, each), { recursive: true });
    const settings = {
      ...configOf('agent.yaml'),
      imds: { endpoint: emulator },
      sinks: {
        local: { type: 'file', path: `${stateDirectory}/records.jsonl` },
        hook: {
          type: 'webhook',
          url: { credential: 'hook.url' },
          allowHttp: true,
          filter: { types: ['None'] },
        },
      },
    };
    writeFileSync(join(place, 'config/agent.yaml'), JSON.stringify(settings));
    secretFile(agentPod, join(place, 'credentials/hook.url'), `${emulator}/no-receiver`);
    return volumesIn(place);
  }

  function consumerVolumes(): Volumes {
    const place = join(directory, 'consumer');
    for (const each of ['config', 'trail', 'credentials']) mkdirSync(join(place, each), { recursive: true });
    const hub = { connectionString: { credential: 'hub' }, eventHubName: 'scheduled-events' };
    writeFileSync(join(place, 'config/consumer.yaml'), JSON.stringify({ ...configOf('consumer.yaml'), hub }));
    secretFile(consumerPod, join(place, 'credentials/hub'), connectionString);
    // As the kubelet leaves a disk for a pod with `fsGroup`.
    giveToGroup(consumerPod, join(place, 'trail'), 0o2770);
    return volumesIn(place);
  }

  const volumesIn = (place: string): Volumes =>
    Object.fromEntries(readdirSync(place).map((name) => [name, join(place, name)]));

  /** As the kubelet writes it for `defaultMode: 0440` and `fsGroup`. */
  function secretFile(pod: IPodSpec, path: string, text: string): void {
    writeFileSync(path, text);
    giveToGroup(pod, path, 0o440);
  }

  /** What belongs to a volume that counts with `fsGroup`: of root, unless the pod says which group. */
  function giveToGroup(pod: IPodSpec, path: string, mode: number): void {
    execFileSync('chown', [`0:${pod.securityContext?.fsGroup ?? 0}`, path]);
    chmodSync(path, mode);
  }
});

const mainOf = (pod: IPodSpec): IContainer => firstOf(pod.containers);
const initOf = (pod: IPodSpec): IContainer => firstOf(pod.initContainers ?? []);

function firstOf(containers: readonly IContainer[]): IContainer {
  const [container] = containers;
  if (container === undefined) throw new Error('there is no container');
  return container;
}

interface AgentRecord {
  readonly source: string;
  readonly data: { readonly agent: { readonly sequence: number } };
}

function recordsOf({ state = '' }: Volumes): AgentRecord[] {
  const lines = readFileSync(join(state, 'records.jsonl'), { encoding: 'utf8', flag: 'a+' })
    .trim()
    .split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AgentRecord);
}

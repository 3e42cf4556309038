// Whether the manifests are what Kubernetes takes, fit each other and the programs, and grant nothing that is not needed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as apps from 'kubernetes-models/apps/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as rbac from 'kubernetes-models/rbac.authorization.k8s.io/v1';
import * as storage from 'kubernetes-models/storage.k8s.io/v1';
import * as core from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import metadata from '../../package.json' with { type: 'json' };
import { readArguments } from '../../src/commands/arguments.ts';
import { registry } from '../../src/commands/registry.ts';
import { parseConfiguration } from '../../src/config/load.ts';
import { consumerSettingsFor } from '../../src/consumer/settings.ts';
import { codeBlocks, pageText } from '../support/markdown.ts';
import { runNode } from '../support/process.ts';
import { agentSettings } from '../support/sink-kinds.ts';
import { projectRoot } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { buildKustomization, type Manifest } from './kustomization.ts';

const folder = (name: string): string => join(projectRoot, 'infra/kubernetes/example', name);
const agent = buildKustomization(folder('agent'));
const consumer = buildKustomization(folder('consumer'));
/** Several of them, which share a trail: instead of the one. */
const consumers = buildKustomization(folder('consumers'));
/** One that drains its node: instead of the one that only tells. */
const draining = buildKustomization(folder('agent-draining'));
const all = [...agent, ...consumer];
const everything = [
  ...new Map([...all, ...consumers, ...draining].map((each) => [JSON.stringify(each), each])).values(),
];

const kinds = {
  'v1 Namespace': { model: core.Namespace, from: 'v1' },
  'v1 ServiceAccount': { model: core.ServiceAccount, from: 'v1' },
  'v1 ConfigMap': { model: core.ConfigMap, from: 'v1' },
  'v1 PersistentVolumeClaim': { model: core.PersistentVolumeClaim, from: 'v1' },
  'apps/v1 DaemonSet': { model: apps.DaemonSet, from: 'apps/v1' },
  'apps/v1 Deployment': { model: apps.Deployment, from: 'apps/v1' },
  'networking.k8s.io/v1 NetworkPolicy': { model: networking.NetworkPolicy, from: 'networking.k8s.io/v1' },
  'policy/v1 PodDisruptionBudget': { model: policy.PodDisruptionBudget, from: 'policy/v1' },
  'rbac.authorization.k8s.io/v1 ClusterRole': {
    model: rbac.ClusterRole,
    from: 'rbac.authorization.k8s.io/v1',
  },
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': {
    model: rbac.ClusterRoleBinding,
    from: 'rbac.authorization.k8s.io/v1',
  },
  'storage.k8s.io/v1 StorageClass': { model: storage.StorageClass, from: 'storage.k8s.io/v1' },
} as const;

const consumerSettings = await consumerSettingsFor();

const isKnown = (name: string): name is keyof typeof kinds => name in kinds;

function kindOf({ apiVersion, kind }: Manifest) {
  const name = `${apiVersion} ${kind}`;
  if (!isKnown(name)) throw new Error(`the tests know no ${name}`);
  return kinds[name];
}

const titleOf = ({ kind, metadata: { name } }: Manifest): string => `${kind} ${name}`;

function only<Kind>(manifests: readonly Manifest[], kind: string): Kind {
  const found = manifests.filter((each) => each.kind === kind);
  if (found.length !== 1) throw new Error(`${found.length} of the kind ${kind}`);
  return found[0] as Kind;
}

const daemonSet = only<apps.IDaemonSet>(agent, 'DaemonSet');
const deployment = only<apps.IDeployment>(consumer, 'Deployment');

const configOf = (manifests: readonly Manifest[], name: string): string =>
  manifests.find(({ kind, data }) => kind === 'ConfigMap' && data?.[name] !== undefined)?.data?.[name] ?? '';
const agentYaml = parseConfiguration(configOf(agent, 'agent.yaml'), 'agent.yaml', agentSettings);
const consumerYaml = parseConfiguration(
  configOf(consumer, 'consumer.yaml'),
  'consumer.yaml',
  consumerSettings,
);

const consumersYaml = parseConfiguration(
  configOf(consumers, 'consumer.yaml'),
  'consumer.yaml',
  consumerSettings,
);

const drainingYaml = parseConfiguration(configOf(draining, 'agent.yaml'), 'agent.yaml', agentSettings);

interface Workload {
  readonly workload: apps.IDaemonSet | apps.IDeployment;
  readonly manifests: readonly Manifest[];
  /** Where the example says the image is pushed to. */
  readonly image: string;
  readonly program: 'agent' | 'consumer';
  /** Where the settings of this program have it keep what must last; null when that is elsewhere. */
  readonly stateDirectory: string | null;
  /** Whether it can do without its Secret. */
  readonly optionalSecret: boolean;
  readonly status: { readonly host: string; readonly port: number } | undefined;
}

const image = 'example.azurecr.io/scheduled-events-bridge';

const workloads: readonly Workload[] = [
  {
    workload: daemonSet,
    manifests: agent,
    image,
    program: 'agent',
    stateDirectory: agentYaml.stateDir,
    optionalSecret: true,
    status: agentYaml.status?.listen,
  },
  {
    workload: deployment,
    manifests: consumer,
    image,
    program: 'consumer',
    stateDirectory: consumerYaml.trail.type === 'sqlite' ? join(consumerYaml.trail.path, '..') : '',
    optionalSecret: true,
    status: consumerYaml.status?.listen,
  },
  {
    workload: only<apps.IDeployment>(consumers, 'Deployment'),
    manifests: consumers,
    image,
    program: 'consumer',
    stateDirectory: null,
    optionalSecret: false,
    status: consumersYaml.status?.listen,
  },
  {
    workload: only<apps.IDaemonSet>(draining, 'DaemonSet'),
    manifests: draining,
    image: `${image}-draining`,
    program: 'agent',
    stateDirectory: drainingYaml.stateDir,
    optionalSecret: true,
    status: drainingYaml.status?.listen,
  },
];

const podOf = ({ workload }: Workload) => {
  const spec = workload.spec?.template.spec;
  if (spec === undefined) throw new Error('there is no pod');
  return spec;
};
const containersOf = (each: Workload) => [...(podOf(each).initContainers ?? []), ...podOf(each).containers];

describe('Kubernetes', () => {
  it.each(everything.map((each) => [titleOf(each), each] as const))('takes %s', (_, manifest) => {
    const { model: Model } = kindOf(manifest);
    const { apiVersion: _a, kind: _k, ...data } = manifest;
    expect(() => new Model(data as never).validate()).not.toThrow();
  });

  it('knows every field there is', async () => {
    // The models let pass what they do not know; their types do not. So the compiler reads the manifests.
    const lines = everything.map((manifest, index) => {
      const module = join(projectRoot, 'node_modules/kubernetes-models', kindOf(manifest).from, 'index.js');
      return `export const a${index}: import(${JSON.stringify(module)}).I${manifest.kind} = ${JSON.stringify(manifest)};`;
    });
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, 'manifests.ts'), lines.join('\n'));
    const compilerOptions = { strict: true, noEmit: true, skipLibCheck: true, module: 'nodenext', types: [] };
    writeFileSync(
      join(directory.path, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['manifests.ts'] }),
    );
    const compiler = join(projectRoot, 'node_modules/typescript/bin/tsc');
    const { exitCode, stdout } = await runNode([compiler, '--project', directory.path]);
    expect(stdout).toBe('');
    expect(exitCode).toBe(0);
  });

  it('finds each manifest once', () => {
    for (const manifests of [all, consumers, draining]) {
      const titles = manifests.map((each) => `${each.metadata.namespace ?? ''} ${titleOf(each)}`);
      expect(new Set(titles).size).toBe(titles.length);
    }
  });

  it.each([agent, consumer, consumers, draining])(
    'finds the namespace of all that has one',
    (...manifests) => {
      const namespace = only<Manifest>(manifests, 'Namespace').metadata.name;
      const clusterWide = ['Namespace', 'StorageClass', 'ClusterRole', 'ClusterRoleBinding'];
      for (const each of manifests) {
        const expected = clusterWide.includes(each.kind) ? undefined : namespace;
        expect(each.metadata.namespace, titleOf(each)).toBe(expected);
      }
    },
  );
});

const names = new Map([
  [consumers, 'consumers'],
  [draining, 'agent that drains'],
]);
const nameOf = ({ program, manifests }: Workload): string => names.get(manifests as Manifest[]) ?? program;

describe.each(workloads.map((each) => [nameOf(each), each] as const))('the pods of the %s', (_, each) => {
  const { workload, manifests, program, stateDirectory, optionalSecret, status } = each;
  const pod = podOf(each);
  const main = pod.containers[0];

  it('are found by their selector, and carry the version of the project', () => {
    const labels = workload.spec?.template.metadata?.labels ?? {};
    expect(labels).toMatchObject(workload.spec?.selector.matchLabels ?? { none: 'none' });
    expect(labels['app.kubernetes.io/component']).toBe(program);
    expect(labels['app.kubernetes.io/version']).toBe(metadata.version);
  });

  it('run the image of this version', () => {
    const images = new Set(containersOf(each).map(({ image }) => image));
    expect([...images]).toEqual([`${each.image}:${metadata.version}`]);
  });

  it('call commands that exist, with the file where these look for it', async () => {
    for (const { name, args = [], volumeMounts = [] } of containersOf(each)) {
      const line = registry.find(({ name: command }) => command === args.join(' '));
      expect(line, name).toBeDefined();
      if (line !== undefined) readArguments(await line.load(), []);
      const file = volumeMounts.find(
        ({ mountPath }) => mountPath === `/etc/scheduled-events-bridge/${program}.yaml`,
      );
      expect(file, name).toMatchObject({ name: 'config', subPath: `${program}.yaml`, readOnly: true });
    }
    expect(main?.args).toEqual([program]);
  });

  it('find each ConfigMap, claim and account that they name', () => {
    const named = (kind: string): string[] =>
      manifests.filter((manifest) => manifest.kind === kind).map((manifest) => manifest.metadata.name);
    for (const { name, configMap, persistentVolumeClaim } of pod.volumes ?? []) {
      if (configMap !== undefined) expect(named('ConfigMap'), name).toContain(configMap.name);
      if (persistentVolumeClaim !== undefined)
        expect(named('PersistentVolumeClaim'), name).toContain(persistentVolumeClaim.claimName);
    }
    expect(named('ServiceAccount')).toContain(pod.serviceAccountName);
  });

  it('mount volumes that are there, and each of them', () => {
    const mounted = containersOf(each).flatMap(({ volumeMounts = [] }) =>
      volumeMounts.map(({ name }) => name),
    );
    expect(new Set(mounted)).toEqual(new Set((pod.volumes ?? []).map(({ name }) => name)));
  });

  it('keep what must last in a volume that lasts', () => {
    if (stateDirectory === null) return;
    const mount = main?.volumeMounts?.find(({ mountPath }) => mountPath === stateDirectory);
    const volume = pod.volumes?.find(({ name }) => name === mount?.name);
    expect(mount?.readOnly).toBeUndefined();
    expect(volume?.hostPath ?? volume?.persistentVolumeClaim).toBeDefined();
  });

  it('find their credentials where the settings look for them', () => {
    const mount = main?.volumeMounts?.find(({ name }) => name === 'credentials');
    expect(mount).toMatchObject({ mountPath: '/etc/scheduled-events-bridge/credentials', readOnly: true });
    const volume = pod.volumes?.find(({ name }) => name === 'credentials');
    // Read by the group that every container of the pod is in.
    expect(volume?.secret).toMatchObject({ defaultMode: 0o440 });
    expect(volume?.secret?.optional ?? false).toBe(optionalSecret);
    expect(pod.securityContext?.fsGroup).toBe(65532);
  });

  it('are probed where the program answers', () => {
    const port = main?.ports?.find(({ name }) => name === 'status');
    expect(port?.containerPort).toBe(status?.port);
    expect(main?.livenessProbe?.httpGet).toMatchObject({ path: '/healthz', port: 'status' });
    expect(main?.readinessProbe?.httpGet).toMatchObject({ path: '/readyz', port: 'status' });
    // The kubelet asks the address of the pod unless it is told another one.
    const asked = status?.host === '0.0.0.0' ? undefined : status?.host;
    expect(main?.livenessProbe?.httpGet?.host).toBe(asked);
    expect(main?.readinessProbe?.httpGet?.host).toBe(asked);
  });

  it('have time to end', () => {
    // The programs end within 10 s.
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(20);
  });

  it('may do nothing that they do not need', () => {
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(only<core.IServiceAccount>(manifests, 'ServiceAccount').automountServiceAccountToken).toBe(false);
    expect(pod).not.toHaveProperty('hostPID');
    expect(pod).not.toHaveProperty('hostIPC');
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    for (const { name, securityContext, env } of containersOf(each)) {
      expect(securityContext, name).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(securityContext?.capabilities, name).not.toHaveProperty('add');
      expect(securityContext, name).not.toHaveProperty('privileged');
      expect(env, name).toBeUndefined();
    }
    expect(main?.securityContext).not.toHaveProperty('runAsUser');
  });

  it('ask for what was measured, and have a limit', () => {
    for (const { name, resources } of containersOf(each)) {
      // 101 MB and 109 MB were measured; below 64 MiB the agent stands still.
      expect(mebibytes(resources?.requests?.memory), name).toBeGreaterThanOrEqual(128);
      expect(mebibytes(resources?.limits?.memory), name).toBeGreaterThanOrEqual(256);
      expect(resources?.requests).toHaveProperty('cpu');
      expect(resources?.limits).toHaveProperty('cpu');
    }
  });
});

const mebibytes = (quantity: string | number | undefined): number =>
  Number(/^(\d+)Mi$/.exec(String(quantity))?.[1] ?? Number.NaN);

describe('the agent', () => {
  const pod = podOf({ workload: daemonSet } as Workload);

  it('sees the metadata service of its node, on every node that is a Linux VM', () => {
    expect(pod.hostNetwork).toBe(true);
    expect(agentYaml.imds.endpoint).toBe('http://169.254.169.254');
    expect(pod.tolerations).toEqual([{ operator: 'Exists' }]);
    const term =
      pod.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
    expect(term).toHaveLength(1);
    expect(term?.[0]?.matchExpressions).toContainEqual({
      key: 'type',
      operator: 'NotIn',
      values: ['virtual-kubelet'],
    });
    expect(pod.priorityClassName).toBe('system-node-critical');
  });

  it('listens to its node alone', () => {
    expect(agentYaml.status?.listen.host).toBe('127.0.0.1');
    const [port] = pod.containers[0]?.ports ?? [];
    // On the node's network both are the same port, and Kubernetes refuses any other pair.
    expect(port?.hostPort).toBe(port?.containerPort);
  });

  it('has its folder made by a root that may do nothing else', () => {
    const [state, ...others] = pod.initContainers ?? [];
    expect(others).toEqual([]);
    expect(state?.args).toEqual(['state', 'prepare']);
    expect(state?.securityContext).toMatchObject({
      runAsUser: 0,
      runAsGroup: pod.securityContext?.runAsGroup,
    });
    expect(state?.volumeMounts?.map(({ name }) => name)).toEqual(['config', 'state']);
  });

  it('is never there twice on a node', () => {
    expect(daemonSet.spec?.updateStrategy?.rollingUpdate?.maxSurge).toBe(0);
  });

  it('names the identity that it signs in with: a node has several', () => {
    const fleet = agentYaml.sinks['fleet'] as
      | { readonly type: string; readonly clientId?: string }
      | undefined;
    expect(fleet?.type).toBe('eventhubs');
    expect(fleet?.clientId).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('the consumer', () => {
  const pod = podOf({ workload: deployment } as Workload);

  it('is alone with its trail', () => {
    expect(deployment.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    const claim = only<core.IPersistentVolumeClaim>(consumer, 'PersistentVolumeClaim');
    const storageClass = only<storage.IStorageClass>(consumer, 'StorageClass');
    expect(claim.spec?.accessModes).toEqual(['ReadWriteOnce']);
    expect(claim.spec?.storageClassName).toBe(storageClass.metadata?.name);
  });

  it('loses no trail when a claim is deleted', () => {
    expect(only<storage.IStorageClass>(consumer, 'StorageClass').reclaimPolicy).toBe('Retain');
  });

  it('signs in with workload identity', () => {
    expect(deployment.spec?.template.metadata?.labels).toHaveProperty(
      ['azure.workload.identity/use'],
      'true',
    );
    const account = only<core.IServiceAccount>(consumer, 'ServiceAccount');
    expect(account.metadata?.annotations).toHaveProperty(['azure.workload.identity/client-id']);
    expect(consumerYaml.hub.clientId).toBeUndefined();
  });

  it('keeps to the strictest of the Pod Security Standards, and its namespace to nothing less', () => {
    const namespace = only<Manifest>(consumer, 'Namespace');
    expect(namespace.metadata.labels).toHaveProperty(['pod-security.kubernetes.io/enforce'], 'restricted');
    expect(pod).not.toHaveProperty('hostNetwork');
    const kindsOfVolumes = (pod.volumes ?? []).map(({ name: _, ...volume }) => Object.keys(volume)[0]);
    const allowed = [
      'configMap',
      'csi',
      'downwardAPI',
      'emptyDir',
      'ephemeral',
      'persistentVolumeClaim',
      'projected',
      'secret',
    ];
    expect(kindsOfVolumes.filter((kind) => !allowed.includes(kind ?? ''))).toEqual([]);
    const ports = pod.containers.flatMap((container) => container.ports ?? []);
    expect(ports.filter(({ hostPort }) => hostPort !== undefined)).toEqual([]);
  });

  it('is reached by nobody, and reaches the hub and Entra but not the metadata service', () => {
    const { spec } = only<networking.INetworkPolicy>(consumer, 'NetworkPolicy');
    expect(spec?.podSelector?.matchLabels).toEqual(deployment.spec?.selector.matchLabels);
    expect(spec?.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(spec?.ingress).toEqual([]);
    const reach = (address: string, port: number): boolean =>
      (spec?.egress ?? []).some(
        ({ to = [], ports = [] }) =>
          ports.some((each) => each.port === port && each.protocol === 'TCP') &&
          to.some(({ ipBlock }) => ipBlock !== undefined && holds(ipBlock, address)),
      );
    expect(reach('20.50.1.1', 5671) && reach('10.1.2.3', 5671) && reach('20.190.128.1', 443)).toBe(true);
    expect(
      reach('169.254.169.254', 80) || reach('169.254.169.254', 443) || reach('169.254.169.254', 53),
    ).toBe(false);
    expect(reach('168.63.129.16', 443) || reach('168.63.129.16', 80) || reach('10.1.2.3', 8080)).toBe(false);
  });

  it('may be moved, so that it holds up no upgrade of the cluster', () => {
    const { spec } = only<policy.IPodDisruptionBudget>(consumer, 'PodDisruptionBudget');
    expect(spec).toMatchObject({ maxUnavailable: 1 });
    expect(spec?.selector?.matchLabels).toEqual(deployment.spec?.selector.matchLabels);
  });
});

describe('several consumers', () => {
  const several = only<apps.IDeployment>(consumers, 'Deployment');
  const pod = podOf({ workload: several } as Workload);
  const selector = several.spec?.selector.matchLabels;

  it('share a trail and its partitions, and sign in to all of it with workload identity', () => {
    const { trail, checkpoints, hub, anchors } = consumersYaml;
    expect(trail).toMatchObject({ type: 'postgres', identity: true });
    expect(checkpoints.type).toBe('blob');
    expect([hub.clientId, checkpoints.clientId, anchors[0]?.clientId]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(trail).not.toHaveProperty('clientId');
    expect(several.spec?.template.metadata?.labels).toHaveProperty(['azure.workload.identity/use'], 'true');
  });

  it('find in the Secret what their settings name, and the README puts it there', () => {
    const mount = pod.containers[0]?.volumeMounts?.find(({ name }) => name === 'credentials');
    const key = consumersYaml.signing?.keyFile ?? '';
    expect(key).toBe(`${mount?.mountPath}/signing.key`);
    expect(consumersYaml.trail).toHaveProperty(['url', 'place'], 'credential:trail.url');
    const page = pageText('infra/kubernetes/README.md');
    const secret = pod.volumes?.find(({ name }) => name === 'credentials')?.secret?.secretName;
    expect(page).toContain(`-n ${several.metadata?.namespace} create secret generic ${secret} \\\n`);
    expect(page).toContain('--from-file=trail.url --from-file=signing.key');
  });

  it('go on while one of them is replaced, moved or lost with its zone', () => {
    expect(several.spec?.replicas).toBeGreaterThanOrEqual(2);
    expect(several.spec?.strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
    });
    const spread = pod.topologySpreadConstraints ?? [];
    expect(spread.map(({ topologyKey }) => topologyKey)).toEqual([
      'topology.kubernetes.io/zone',
      'kubernetes.io/hostname',
    ]);
    for (const { whenUnsatisfiable, labelSelector } of spread) {
      // A cluster of one zone runs them all the same.
      expect(whenUnsatisfiable).toBe('ScheduleAnyway');
      expect(labelSelector?.matchLabels).toEqual(selector);
    }
    const budget = only<policy.IPodDisruptionBudget>(consumers, 'PodDisruptionBudget');
    expect(budget.spec).toMatchObject({ maxUnavailable: 1, selector: { matchLabels: selector } });
  });

  it('reach the database beside what the one consumer reaches, and nothing more', () => {
    const policies = consumers.filter(
      ({ kind }) => kind === 'NetworkPolicy',
    ) as unknown as networking.INetworkPolicy[];
    const [common, own, ...others] = policies;
    expect(others).toEqual([]);
    expect(common).toEqual(only<networking.INetworkPolicy>(consumer, 'NetworkPolicy'));
    expect(own?.spec?.podSelector?.matchLabels).toEqual(selector);
    expect(own?.spec?.policyTypes).toEqual(['Egress']);
    const [rule, ...more] = own?.spec?.egress ?? [];
    expect(more).toEqual([]);
    expect(rule?.ports).toEqual([{ protocol: 'TCP', port: 5432 }]);
    expect(rule?.to).toEqual(common?.spec?.egress?.at(-1)?.to);
  });

  it('have no disk, but a place to put something aside, which ends with the pod', () => {
    expect(consumers.map(({ kind }) => kind)).not.toContain('PersistentVolumeClaim');
    const written = pod.containers[0]?.volumeMounts?.filter(({ readOnly }) => readOnly !== true) ?? [];
    // Where the image has programs put aside what they must: infra/container/Containerfile.
    expect(written.map(({ mountPath }) => mountPath)).toEqual(['/var/lib/scheduled-events-bridge']);
    const volume = pod.volumes?.find(({ name }) => name === written[0]?.name);
    expect(volume?.emptyDir).toHaveProperty('sizeLimit');
  });
});

describe('the notices of the fleet', () => {
  const [one, several] = workloads
    .filter(({ program }) => program === 'consumer')
    .map((each) => {
      const lines = configOf(each.manifests, 'consumer.yaml').replace(/^# (?=notify:)/m, '');
      const { notify } = parseConfiguration(lines, 'consumer.yaml', consumerSettings);
      const main = podOf(each).containers[0];
      const mount = main?.volumeMounts?.find(({ mountPath }) => notify?.stateDir.startsWith(`${mountPath}/`));
      return { notify, mount, volume: podOf(each).volumes?.find(({ name }) => name === mount?.name) };
    });

  it('are sent once the line that the settings have for them is no comment any more', () => {
    for (const each of [one, several]) {
      expect(Object.keys(each?.notify?.sinks ?? {})).toEqual(['ops']);
      expect(each?.notify?.sinks['ops']).toHaveProperty(['url', 'place'], 'credential:slack.url');
      expect(each?.mount?.readOnly).toBeUndefined();
    }
  });

  it('wait on the disk of the trail where there is one consumer, and where a pod ends in what the journal makes up for', () => {
    expect(one?.volume?.persistentVolumeClaim).toBeDefined();
    expect(several?.volume?.emptyDir).toBeDefined();
  });
});

describe('the key of the one consumer', () => {
  it('is found by the line that its settings have for it, once that is no comment any more', () => {
    const lines = configOf(consumer, 'consumer.yaml').replace(/^# (?=signing:)/m, '');
    const { signing } = parseConfiguration(lines, 'consumer.yaml', consumerSettings);
    const mount = podOf({ workload: deployment } as Workload).containers[0]?.volumeMounts?.find(
      ({ name }) => name === 'credentials',
    );
    expect(signing?.keyFile).toBe(`${mount?.mountPath}/signing.key`);
  });
});

describe('the README', () => {
  const page = 'infra/kubernetes/README.md';
  const commands = codeBlocks(page, 'sh').flatMap(({ text }) => text.replaceAll('\\\n', ' ').split('\n'));

  it('speaks to what the manifests make', () => {
    const known = new Set(
      all.map(({ kind, metadata: { name, namespace } }) => `${namespace} ${kind.toLowerCase()}/${name}`),
    );
    const named = commands.flatMap((line) => {
      const [, namespace, object] = /kubectl -n (\S+) .*?\b((?:daemonset|deployment)\/\S+)/.exec(line) ?? [];
      return namespace === undefined ? [] : [`${namespace} ${object}`];
    });
    expect(named).toHaveLength(6);
    expect(named.filter((each) => !known.has(each))).toEqual([]);
  });

  it('creates the Secret that the agent mounts, where it is looked for', () => {
    const [, namespace, name] =
      commands.map((line) => /kubectl -n (\S+) create secret generic (\S+)/.exec(line)).find(Boolean) ?? [];
    const volume = podOf({ workload: daemonSet } as Workload).volumes?.find(
      ({ secret }) => secret !== undefined,
    );
    expect({ namespace, name }).toEqual({
      namespace: daemonSet.metadata?.namespace,
      name: volume?.secret?.secretName,
    });
  });

  it('federates the account of the consumer', () => {
    const { name, namespace } = only<Manifest>(consumer, 'ServiceAccount').metadata;
    expect(pageText(page)).toContain(`--subject system:serviceaccount:${namespace}:${name} `);
  });

  it('runs commands of the program that exist', async () => {
    const inPods = commands.flatMap((line) => / -- \/seb (.*)$/.exec(line)?.[1] ?? []);
    expect(inPods.filter((words) => !registry.some(({ name }) => name === words))).toEqual([]);
    expect(inPods).toHaveLength(3);
  });

  it('says of each block why it is not run', () => {
    const blocks = [...pageText(page).matchAll(/^(.*)\n```sh$/gm)].map(([, before]) => before);
    expect(blocks.filter((before) => !/^<!-- not run here: .{15,} -->$/.test(before ?? ''))).toEqual([]);
    expect(blocks.length).toBeGreaterThan(4);
  });
});

/** Whether a block of addresses, less its exceptions, holds an address. */
function holds({ cidr, except = [] }: { cidr: string; except?: string[] }, address: string): boolean {
  return within(cidr, address) && !except.some((each) => within(each, address));
}

function within(block: string, address: string): boolean {
  const [base = '', bits = '32'] = block.split('/');
  const mask = bits === '0' ? 0 : (-1 << (32 - Number(bits))) >>> 0;
  return (numberOf(base) & mask) >>> 0 === (numberOf(address) & mask) >>> 0;
}

const numberOf = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

// Whether the agent that drains may do that and no more, and whether what it runs treats a node as it should.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDaemonSet } from 'kubernetes-models/apps/v1';
import type { IClusterRole, IClusterRoleBinding } from 'kubernetes-models/rbac.authorization.k8s.io/v1';
import type { IPodSpec } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfiguration } from '../../src/config/load.ts';
import { startNode } from '../support/process.ts';
import { agentSettings } from '../support/sink-kinds.ts';
import { projectRoot } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { buildKustomization, type Manifest } from './kustomization.ts';

const folder = join(projectRoot, 'infra/kubernetes/example');
const plain = buildKustomization(join(folder, 'agent'));
const draining = buildKustomization(join(folder, 'agent-draining'));
const script = join(folder, 'agent-draining/node-drain');

const find = <Kind>(manifests: readonly Manifest[], kind: string): Kind =>
  manifests.find((each) => each.kind === kind) as Kind;

function podOf(manifests: readonly Manifest[]): IPodSpec {
  const pod = find<IDaemonSet>(manifests, 'DaemonSet').spec?.template.spec;
  if (pod === undefined) throw new Error('there is no pod');
  return pod;
}

const filesOf = Object.assign(
  {},
  ...draining.filter(({ kind }) => kind === 'ConfigMap').map(({ data }) => data),
) as Record<string, string>;
const settings = parseConfiguration(filesOf['agent.yaml'] ?? '', 'agent.yaml', agentSettings);

describe('the agent that drains', () => {
  const container = podOf(draining).containers[0];
  const mountOf = (path: string) => container?.volumeMounts?.find(({ mountPath }) => mountPath === path);
  const volumeOf = (name = '') => podOf(draining).volumes?.find((each) => each.name === name);

  it('is the other one with two volumes and more memory', () => {
    const own = (pod: IPodSpec) => ({
      ...pod,
      volumes: pod.volumes?.filter(({ name }) => !['hooks', 'kubernetes', 'config'].includes(name)),
      initContainers: pod.initContainers?.map(({ image: _, ...rest }) => rest),
      containers: pod.containers.map(({ image: _, resources: _r, volumeMounts = [], ...rest }) => ({
        ...rest,
        volumeMounts: volumeMounts.filter(({ name }) => !['hooks', 'kubernetes'].includes(name)),
      })),
    });
    expect(own(podOf(draining))).toEqual(own(podOf(plain)));
    expect(container?.volumeMounts).toHaveLength((podOf(plain).containers[0]?.volumeMounts?.length ?? 0) + 2);
  });

  it('runs nothing but what it is given, where its settings look for it', () => {
    const mount = mountOf('/etc/scheduled-events-bridge/hooks');
    const volume = volumeOf(mount?.name);
    expect(mount?.readOnly).toBe(true);
    expect(volume?.configMap?.defaultMode).toBe(0o555);
    const programs = new Set(settings.hooks.map(({ command }) => command[0]));
    expect([...programs]).toEqual([`${mount?.mountPath}/node-drain`]);
    expect(filesOf['node-drain']?.split('\n')[0]).toBe('#!/bin/busybox sh');
    expect(draining.map(({ metadata }) => metadata.name)).toContain(volume?.configMap?.name);
  });

  it('finds its token and the authority of the cluster where its kubeconfig says', () => {
    const mount = mountOf('/var/run/secrets/kubernetes.io/serviceaccount');
    const sources = volumeOf(mount?.name)?.projected?.sources ?? [];
    const files = sources.flatMap(({ serviceAccountToken, configMap }) => [
      ...(serviceAccountToken === undefined ? [] : [serviceAccountToken.path]),
      ...(configMap?.items ?? []).map(({ path }) => path),
    ]);
    const { clusters, users } = parse(filesOf['kubeconfig'] ?? '');
    const named = [users[0].user.tokenFile, clusters[0].cluster['certificate-authority']];
    expect(named).toEqual(files.map((file) => `${mount?.mountPath}/${file}`));
    expect(filesOf['node-drain']).toContain(`KUBECONFIG=/etc/scheduled-events-bridge/hooks/kubeconfig`);
  });

  it('may cordon and drain, and nothing else', () => {
    const { rules = [], metadata } = find<IClusterRole>(draining, 'ClusterRole');
    const rights = rules.flatMap(({ resources = [], verbs }) =>
      resources.flatMap((each) => verbs.map((verb) => `${verb} ${each}`)),
    );
    expect(rights).toEqual([
      'get nodes',
      'patch nodes',
      'get pods',
      'list pods',
      'create pods/eviction',
      'get daemonsets',
    ]);
    const binding = find<IClusterRoleBinding>(draining, 'ClusterRoleBinding');
    const { name, namespace } = find<Manifest>(draining, 'ServiceAccount').metadata;
    expect(binding.roleRef.name).toBe(metadata?.name);
    expect(binding.subjects).toEqual([{ kind: 'ServiceAccount', name, namespace }]);
  });

  it('leaves to AKS what AKS drains for, and approves nothing unless a line is uncommented', () => {
    expect(new Set(settings.hooks.flatMap(({ types }) => types))).toEqual(new Set(['Reboot', 'Terminate']));
    expect(settings.approval.enabled).toBe(false);
    const text = (filesOf['agent.yaml'] ?? '').replace(/^# (?=approval:)/m, '');
    const { approval } = parseConfiguration(text, 'agent.yaml', agentSettings);
    expect(approval).toMatchObject({ enabled: true, rules: [{ action: 'afterHooks' }] });
  });
});

/** Runs the hook with a kubectl that keeps what it is told, and says of the node what `node` has. */
async function run(phase: 'prepare' | 'recover', node: string, drains = true) {
  using directory = temporaryDirectory();
  const { path } = directory;
  const calls = join(path, 'calls');
  writeFileSync(calls, '');
  writeFileSync(join(path, 'hostname'), 'aks-pool-000001\n');
  const fake = `#!/bin/sh
echo "$*" >>'${calls}'
case $1 in get) printf '%s' '${node}' ;; drain) ${drains ? 'exit 0' : 'exit 1'} ;; esac
`;
  writeFileSync(join(path, 'kubectl'), fake, { mode: 0o755 });
  const env = {
    PATH: `${path}:/usr/bin:/bin`,
    MACHINE_NAME_FILE: join(path, 'hostname'),
    SEB_PHASE: phase,
    SEB_EVENT_ID: 'C7061BAC; rm -rf *',
    SEB_TIMEOUT_SECONDS: '600',
  };
  await using child = startNode([script], { program: '/bin/sh', env, cwd: path });
  const exitCode = await child.ended();
  const told = readFileSync(calls, 'utf8').trim().split('\n');
  return { exitCode, did: told.slice(1) };
}

const mark = 'scheduled-events-bridge-cordoned';
const drain = 'drain aks-pool-000001 --ignore-daemonsets --delete-emptydir-data --timeout=595s';

describe('what it runs', () => {
  it('notes that it cordons the node, and drains it within its time', async () => {
    expect(await run('prepare', 'aks-pool-000001  ')).toEqual({
      exitCode: 0,
      did: [`annotate node aks-pool-000001 --overwrite ${mark}=C7061BAC; rm -rf *`, drain],
    });
  });

  it('drains what somebody else cordoned, and does not say that it was this', async () => {
    expect(await run('prepare', 'aks-pool-000001 true ')).toEqual({ exitCode: 0, did: [drain] });
  });

  it('fails when the node cannot be drained', async () => {
    expect(await run('prepare', 'aks-pool-000001  ', false)).toMatchObject({ exitCode: 1 });
  });

  it('uncordons the node after the event for which it cordoned it, and takes the note off', async () => {
    expect(await run('recover', 'aks-pool-000001 true C7061BAC; rm -rf *')).toEqual({
      exitCode: 0,
      did: ['uncordon aks-pool-000001', `annotate node aks-pool-000001 ${mark}-`],
    });
  });

  it.each(['aks-pool-000001 true ', 'aks-pool-000001 true ANOTHER'])(
    'leaves a node alone that it did not cordon for this event: "%s"',
    async (node) => {
      expect(await run('recover', node)).toEqual({ exitCode: 0, did: [] });
    },
  );
});

// Whether the agent that drains may do that and no more, and runs the hook that is tested elsewhere.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDaemonSet } from 'kubernetes-models/apps/v1';
import type { IClusterRole, IClusterRoleBinding } from 'kubernetes-models/rbac.authorization.k8s.io/v1';
import type { IPodSpec } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfiguration } from '../../src/config/load.ts';
import { agentSettings } from '../support/sink-kinds.ts';
import { projectRoot } from '../support/source-files.ts';
import { buildKustomization, type Manifest } from './kustomization.ts';

const folder = join(projectRoot, 'infra/kubernetes/example');
const plain = buildKustomization(join(folder, 'agent'));
const draining = buildKustomization(join(folder, 'agent-draining'));
const hook = readFileSync(join(projectRoot, 'infra/hooks/kubernetes-drain.sh'), 'utf8');

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

  it('is the other one with a hook, a token and more memory', () => {
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
    expect(container?.volumeMounts).toHaveLength((podOf(plain).containers[0]?.volumeMounts?.length ?? 0) + 3);
  });

  it('runs nothing but what it is given, where its settings look for it', () => {
    const [program = '', ...others] = new Set(settings.hooks.map(({ command }) => command[0]));
    expect(others).toEqual([]);
    // A file of its own: the agent runs nothing in a folder that others may change, and that of a ConfigMap is one.
    const mount = mountOf(program);
    expect(mount).toMatchObject({ name: 'hooks', subPath: 'kubernetes-drain.sh', readOnly: true });
    const volume = volumeOf(mount?.name);
    expect(volume?.configMap?.defaultMode).toBe(0o555);
    expect(filesOf['kubernetes-drain.sh']).toBe(hook);
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
    const usual = /KUBECONFIG:-(\S+)\}/.exec(hook)?.[1] ?? '';
    expect(mountOf(usual)).toMatchObject({ name: 'hooks', subPath: 'kubeconfig', readOnly: true });
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

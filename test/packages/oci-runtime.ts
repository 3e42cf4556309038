// What a kubelet and its runtime make of a container of a pod: a configuration for an OCI runtime.
import { readFileSync } from 'node:fs';
import type { IContainer, IPodSpec } from 'kubernetes-models/v1';
import type { Image } from './oci-image.ts';

/** A folder or file of the node, for a volume of the pod, by the volume's name. */
export type Volumes = Readonly<Record<string, string>>;

interface Mount {
  readonly destination: string;
  readonly source: string;
  readonly type: string;
  readonly options?: readonly string[];
}

/** What the runtime brings into every container. */
const usualMounts: readonly Mount[] = [
  { destination: '/proc', type: 'proc', source: 'proc' },
  {
    destination: '/dev',
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'],
  },
  {
    destination: '/dev/shm',
    type: 'tmpfs',
    source: 'shm',
    options: ['nosuid', 'noexec', 'nodev', 'size=65536k'],
  },
];

/**
 * The configuration of a container as its pod describes it, in the network of the node.
 * @param volumes where the volumes of the pod are
 * @see https://github.com/opencontainers/runtime-spec/blob/main/config.md
 */
export function runtimeConfiguration(
  image: Image,
  pod: IPodSpec,
  container: IContainer,
  volumes: Volumes,
): object {
  const { Entrypoint, Env, WorkingDir } = image.configuration.config;
  const { securityContext = {} } = container;
  if (securityContext.capabilities?.drop?.[0] !== 'ALL') throw new Error('only without capabilities');
  const fsGroup = pod.securityContext?.fsGroup;
  const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] };
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: {
        uid: securityContext.runAsUser ?? pod.securityContext?.runAsUser,
        gid: securityContext.runAsGroup ?? pod.securityContext?.runAsGroup,
        additionalGids: fsGroup === undefined ? [] : [fsGroup],
      },
      args: [...(container.command ?? Entrypoint), ...(container.args ?? [])],
      env: Env,
      cwd: WorkingDir,
      capabilities: none,
      noNewPrivileges: securityContext.allowPrivilegeEscalation === false,
    },
    root: { path: image.root, readonly: securityContext.readOnlyRootFilesystem === true },
    hostname: 'node',
    mounts: [...usualMounts, ...(container.volumeMounts ?? []).map((each) => boundMount(each, volumes))],
    linux: {
      namespaces: [{ type: 'pid' }, { type: 'ipc' }, { type: 'uts' }, { type: 'mount' }],
      ...(pod.securityContext?.seccompProfile?.type === 'RuntimeDefault'
        ? { seccomp: defaultSeccomp() }
        : {}),
      maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list'],
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
    },
  };
}

type VolumeMount = NonNullable<IContainer['volumeMounts']>[number];

function boundMount({ name, mountPath, subPath, readOnly }: VolumeMount, volumes: Volumes): Mount {
  const place = volumes[name];
  if (place === undefined) throw new Error(`the node has nothing for the volume ${name}`);
  const source = subPath === undefined ? place : `${place}/${subPath}`;
  const options = ['rbind', 'rprivate', readOnly === true ? 'ro' : 'rw'];
  return { destination: mountPath, type: 'bind', source, options };
}

interface SystemCalls {
  readonly names: readonly string[];
  readonly action: string;
  readonly errnoRet?: number;
  readonly args?: readonly object[] | null;
  readonly includes?: { readonly arches?: readonly string[]; readonly caps?: readonly string[] };
  readonly excludes?: { readonly caps?: readonly string[] };
}

// Of buildah's package golang-github-containers-common; that of containerd, which AKS runs, is its close kin.
const profilePath = '/usr/share/containers/seccomp.json';

/** The default profile, for amd64 and a process without capabilities. */
function defaultSeccomp(): object {
  const profile = JSON.parse(readFileSync(profilePath, 'utf8')) as {
    readonly defaultAction: string;
    readonly defaultErrnoRet: number;
    readonly syscalls: readonly SystemCalls[];
  };
  const counts = ({ includes = {} }: SystemCalls): boolean =>
    (includes.arches ?? ['amd64']).includes('amd64') && (includes.caps ?? []).length === 0;
  return {
    defaultAction: profile.defaultAction,
    defaultErrnoRet: profile.defaultErrnoRet,
    architectures: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32'],
    syscalls: profile.syscalls.filter(counts).map(({ names, action, errnoRet, args }) => ({
      names,
      action,
      ...(errnoRet === undefined ? {} : { errnoRet }),
      args: args ?? [],
    })),
  };
}

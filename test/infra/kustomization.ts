// Builds a kustomization: the small part of kustomize that the manifests use, and an error for everything beyond it.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

/** A manifest, as far as every kind has the same. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  // Each kind has its own, and the tests look into them.
  readonly [field: string]: unknown;
}

interface Image {
  readonly name: string;
  readonly newName?: string;
  readonly newTag?: string;
  readonly digest?: string;
}

interface Generator {
  readonly name: string;
  readonly namespace: string;
  readonly files: readonly string[];
}

interface Kustomization {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resources?: readonly string[];
  readonly images?: readonly Image[];
  readonly configMapGenerator?: readonly Generator[];
  readonly patches?: readonly { readonly patch: string }[];
}

const understood = ['apiVersion', 'kind', 'resources', 'images', 'configMapGenerator', 'patches'];

/** @returns every manifest of the folder's kustomization, in the order in which they stand */
export function buildKustomization(folder: string): Manifest[] {
  const file = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as Kustomization;
  const unknown = Object.keys(file).filter((key) => !understood.includes(key));
  if (unknown.length > 0) throw new Error(`${folder}: not understood here: ${unknown.join(', ')}`);
  const resources = (file.resources ?? []).flatMap((each) => manifestsAt(join(folder, each)));
  const made = (file.configMapGenerator ?? []).map((each) => generated(folder, each));
  const renamed = made.reduce(
    (all, { base, manifest }) => all.map((each) => withName(each, base, manifest.metadata.name)),
    resources,
  );
  const patches = (file.patches ?? []).map(({ patch }) => parse(patch) as Manifest);
  const patched = patches.reduce(applyPatch, renamed);
  const images = file.images ?? [];
  return [
    ...patched.map((each) => withImages(each, images) as Manifest),
    ...made.map(({ manifest }) => manifest),
  ];
}

function manifestsAt(path: string): Manifest[] {
  if (statSync(path).isDirectory()) return buildKustomization(path);
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => {
    if (document.errors.length > 0) throw new Error(`${path}: ${document.errors[0]?.message}`);
    return document.toJS() as Manifest;
  });
}

function generated(folder: string, { name, namespace, files }: Generator) {
  const data = Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
  const hash = createHash('sha256').update(JSON.stringify(data)).digest('hex').slice(0, 10);
  const metadata = { name: `${name}-${hash}`, namespace };
  return { base: name, manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } };
}

/** Every reference to a ConfigMap follows the name it was generated with. */
const withName = (manifest: Manifest, base: string, name: string): Manifest =>
  mapped(manifest, (value, key) =>
    key === 'configMap' && (value as { name?: string }).name === base
      ? { ...(value as object), name }
      : value,
  ) as Manifest;

function applyPatch(manifests: Manifest[], patch: Manifest): Manifest[] {
  const isMeant = ({ kind, metadata }: Manifest): boolean =>
    kind === patch.kind &&
    metadata.name === patch.metadata.name &&
    metadata.namespace === patch.metadata.namespace;
  if (!manifests.some(isMeant)) throw new Error(`there is no ${patch.kind} ${patch.metadata.name} to patch`);
  return manifests.map((each) => (isMeant(each) ? (merged(each, patch) as Manifest) : each));
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The lists whose entries are patched one by one, and what an entry is known by (`patchMergeKey` in Kubernetes). */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  volumes: 'name',
  volumeMounts: 'mountPath',
};

function merged(base: unknown, patch: unknown, name = ''): unknown {
  const key = mergeKeys[name];
  if (Array.isArray(base) && Array.isArray(patch) && key !== undefined) return mergedLists(base, patch, key);
  if (!isRecord(base) || !isRecord(patch)) return patch;
  const own = Object.entries(patch).map(([field, value]) => [field, merged(base[field], value, field)]);
  return { ...base, ...Object.fromEntries(own) };
}

function mergedLists(base: readonly unknown[], patch: readonly unknown[], key: string): unknown[] {
  const nameOf = (entry: unknown): unknown => (isRecord(entry) ? entry[key] : undefined);
  const changed = base.map((entry) => {
    const change = patch.find((each) => nameOf(each) === nameOf(entry));
    return change === undefined ? entry : merged(entry, change);
  });
  return [...changed, ...patch.filter((each) => !base.some((entry) => nameOf(entry) === nameOf(each)))];
}

const withImages = (value: unknown, images: readonly Image[]): unknown =>
  mapped(value, (child, key) => {
    const image = key === 'image' ? images.find(({ name }) => name === child) : undefined;
    return image === undefined ? child : imageText(image);
  });

const imageText = ({ name, newName = name, newTag, digest }: Image): string =>
  digest === undefined ? `${newName}:${newTag ?? ''}` : `${newName}@${digest}`;

/** Every value below, replaced from the leaves up. */
function mapped(value: unknown, change: (value: unknown, key: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapped(each, change));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, change(mapped(child, change), key)]),
  );
}

// Whether the bills of materials say what is in the executable: each package once, with its version, hash and licence.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import lock from '../../package-lock.json' with { type: 'json' };
import { bundle } from '../../scripts/build.ts';
import { bundledPackages } from '../../scripts/sbom/bundled.ts';
import { identifierFrom } from '../../scripts/sbom/cyclonedx.ts';
import { partsOfNode } from '../../scripts/sbom/parts-of-node.ts';
import { billsOfMaterials } from '../../scripts/sbom.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

// What may be passed on in a program under the MIT licence, with a copy of the text at most.
const licensesWeMayShip = [
  ...['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'Zlib', 'Unicode-3.0', 'blessing'],
  'MIT OR Apache-2.0',
];

// Of https://cyclonedx.org/docs/1.5/json/, what a reader relies on.
const cycloneDx = z.object({
  $schema: z.literal('http://cyclonedx.org/schema/bom-1.5.schema.json'),
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.5'),
  serialNumber: z.string().regex(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  version: z.int().min(1),
  metadata: z.object({
    timestamp: z.iso.datetime(),
    component: z.object({ 'bom-ref': z.string(), type: z.literal('application'), name: z.string() }),
  }),
  get components() {
    return z.array(cycloneDxComponent);
  },
  dependencies: z.array(z.strictObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
const cycloneDxComponent = z.object({
  'bom-ref': z.string().min(1),
  type: z.enum(['library', 'platform']),
  name: z.string().min(1),
  version: z.string().min(1),
  purl: z.string().regex(/^pkg:(npm|generic)\/[^@]+@.+$/),
  cpe: z
    .string()
    .regex(/^cpe:2\.3:a:[\w.-]+:[\w.-]+:[\w.]+(:\*){7}$/)
    .optional(),
  hashes: z.array(z.strictObject({ alg: z.literal('SHA-512'), content: z.hex().length(128) })).optional(),
  licenses: z.tuple([
    z.union([
      z.strictObject({ license: z.strictObject({ id: z.string() }) }),
      z.strictObject({ expression: z.string() }),
    ]),
  ]),
  get components() {
    return z.array(cycloneDxComponent).optional();
  },
});

// Of https://spdx.github.io/spdx-spec/v2.3/, likewise.
const spdxIdentifier = z.string().regex(/^SPDXRef-[a-zA-Z0-9.-]+$/);
const spdx = z.object({
  spdxVersion: z.literal('SPDX-2.3'),
  dataLicense: z.literal('CC0-1.0'),
  SPDXID: z.literal('SPDXRef-DOCUMENT'),
  name: z.string(),
  documentNamespace: z.url(),
  creationInfo: z.object({
    created: z.string().regex(/^[\d-]+T[\d:]+Z$/),
    creators: z.array(z.string()).min(1),
  }),
  documentDescribes: z.array(spdxIdentifier),
  packages: z.array(
    z.object({
      SPDXID: spdxIdentifier,
      name: z.string().min(1),
      versionInfo: z.string().min(1),
      downloadLocation: z.string(),
      filesAnalyzed: z.literal(false),
      licenseDeclared: z.string().min(1),
      externalRefs: z.array(
        z.strictObject({
          referenceCategory: z.enum(['PACKAGE-MANAGER', 'SECURITY']),
          referenceType: z.enum(['purl', 'cpe23Type']),
          referenceLocator: z.string(),
        }),
      ),
      checksums: z
        .array(z.strictObject({ algorithm: z.literal('SHA512'), checksumValue: z.hex().length(128) }))
        .optional(),
    }),
  ),
  relationships: z.array(
    z.strictObject({
      spdxElementId: spdxIdentifier,
      relatedSpdxElement: spdxIdentifier,
      // The last one is what npm says of a peer.
      relationshipType: z.enum([
        'DESCRIBES',
        'CONTAINS',
        'DEPENDENCY_OF',
        'OPTIONAL_DEPENDENCY_OF',
        'PREREQUISITE_FOR',
      ]),
    }),
  ),
});

const madeAt = new Date('2026-11-20T12:00:00Z');
const self = 'scheduled-events-bridge@1.0.0';
let metafile: Metafile;
let licenceFile: string;
let bills: readonly [cdx: string, spdx: string];
let inCycloneDx: z.infer<typeof cycloneDx>;
let inSpdx: z.infer<typeof spdx>;

beforeAll(async () => {
  using directory = temporaryDirectory();
  metafile = await bundle(directory.path);
  licenceFile = readFileSync(join(directory.path, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const files = await billsOfMaterials(madeAt);
  expect(Object.keys(files)).toEqual([`${fileName}.cdx.json`, `${fileName}.spdx.json`]);
  const [first = '', second = ''] = Object.values(files);
  bills = [first, second];
  inCycloneDx = cycloneDx.parse(JSON.parse(first));
  inSpdx = spdx.parse(JSON.parse(second));
}, 60_000);

const fileName = self.replace('@', '-');

/** The hash that the lockfile has for each version of each package, in hexadecimal. */
const lockedHashes = new Map(
  Object.entries(lock.packages as Readonly<Record<string, { version?: string; integrity?: string }>>).map(
    ([path, { version, integrity = '' }]) => [
      `${path.replace(/^.*node_modules\//, '')}@${version}`,
      Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex'),
    ],
  ),
);

const bundled = (): string[] => bundledPackages(metafile);

describe('the bill in CycloneDX', () => {
  const packages = () => inCycloneDx.components.filter(({ purl }) => purl.startsWith('pkg:npm/'));

  it('is about the executable, under its own name', () => {
    expect(inCycloneDx.metadata.component).toMatchObject({
      'bom-ref': self,
      name: 'scheduled-events-bridge',
    });
  });

  it('has each package whose code is in the bundle, and no other, with the version and hash of the lockfile', () => {
    const found = packages().map(({ name, version, hashes }) => [`${name}@${version}`, hashes?.[0]?.content]);
    expect(found.toSorted()).toEqual(bundled().map((each) => [each, lockedHashes.get(each)]));
    expect(found.length).toBeGreaterThan(50);
  });

  it('has the package that npm itself leaves out without development tools', () => {
    expect(packages().map(({ name }) => name)).toContain('yaml');
  });

  it('has Node with every library that is in it, as vulnerability databases call them', () => {
    const node = inCycloneDx.components.find(({ type }) => type === 'platform');
    expect(node).toMatchObject({
      version: process.versions.node,
      cpe: `cpe:2.3:a:nodejs:node.js:${process.versions.node}:*:*:*:*:*:*:*`,
    });
    const { openssl, sqlite, v8 } = process.versions;
    const libraries = node?.components?.map(({ name, version }) => `${name}@${version}`);
    expect(libraries).toEqual(expect.arrayContaining([`openssl@${openssl}`, `sqlite@${sqlite}`, `v8@${v8}`]));
  });

  it('names a licence for each part, and only such as we may pass on', () => {
    const parts = [
      ...inCycloneDx.components,
      ...inCycloneDx.components.flatMap(({ components = [] }) => components),
    ];
    const named = parts.map(({ licenses: [each] }) =>
      'expression' in each ? each.expression : each.license.id,
    );
    expect(named.filter((license) => !licensesWeMayShip.includes(license))).toEqual([]);
  });

  it('says what each part needs, in terms of the parts that it names', () => {
    const names = new Set([
      self,
      ...inCycloneDx.components
        .flatMap((each) => [each, ...(each.components ?? [])])
        .map((each) => each['bom-ref']),
    ]);
    const dependencies = inCycloneDx.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
    expect(dependencies.filter((name) => !names.has(name))).toEqual([]);
    expect(new Set(dependencies)).toEqual(names);
  });
});

describe('the bill in SPDX', () => {
  const packages = () =>
    inSpdx.packages.filter(
      ({ SPDXID, name }) => !SPDXID.includes('-NodePart-') && !self.startsWith(`${name}@`),
    );

  it('has each package whose code is in the bundle, and no other, with the version and hash of the lockfile', () => {
    const found = packages().map(({ name, versionInfo, checksums }) => [
      `${name}@${versionInfo}`,
      checksums?.[0]?.checksumValue,
    ]);
    expect(found.toSorted()).toEqual(bundled().map((each) => [each, lockedHashes.get(each)]));
  });

  it('has the same parts as the other bill', () => {
    const parts = inCycloneDx.components.flatMap((each) => [each, ...(each.components ?? [])]);
    const others = parts.map(({ name, version }) => `${name}@${version}`);
    expect(inSpdx.packages.map(({ name, versionInfo }) => `${name}@${versionInfo}`).toSorted()).toEqual(
      [self, ...others].toSorted(),
    );
  });

  it('names a licence for each part, and only such as we may pass on', () => {
    const named = inSpdx.packages.map(({ licenseDeclared }) => licenseDeclared);
    expect(named.filter((license) => !licensesWeMayShip.includes(license))).toEqual([]);
  });

  it('relates each part to another that it names', () => {
    const names = new Set(['SPDXRef-DOCUMENT', ...inSpdx.packages.map(({ SPDXID }) => SPDXID)]);
    const related = inSpdx.relationships.flatMap((each) => [each.spdxElementId, each.relatedSpdxElement]);
    expect(new Set(related)).toEqual(names);
  });
});

describe('both bills', () => {
  it('name the packages whose licences travel with the program', () => {
    const headings = [...licenceFile.matchAll(/^(\S+) (\d\S*) \(([^)]+)\)$/gm)];
    expect(headings.map(([, name, version]) => `${name}@${version}`).toSorted()).toEqual(bundled());
  });

  it('are the same for the same moment, and have another number for other content', async () => {
    expect(Object.values(await billsOfMaterials(madeAt))).toEqual(bills);
    const [one, other] = ['a', 'b'].map((content) => identifierFrom([content]));
    expect(one).not.toBe(other);
  });
});

describe('a Node with something new in it', () => {
  it('makes no bill until somebody has looked at it', () => {
    expect(() => partsOfNode({ ...process.versions, leftpad: '1.0.0' })).toThrow('leftpad');
    expect(partsOfNode({ ...process.versions, nghttp3: '' }).libraries.map(({ name }) => name)).toContain(
      'openssl',
    );
  });
});

// Turns npm's SPDX document, which is about a folder of packages, into one about the executable.
import metadata from '../../package.json' with { type: 'json' };
import { identifierFrom } from './cyclonedx.ts';
import type { Executable } from './executable.ts';
import type { NpmSpdx } from './npm-sbom.ts';
import { cpeOf, type Part, purlOf } from './parts-of-node.ts';

/** The SPDX 2.3 document of the executable: https://spdx.github.io/spdx-spec/v2.3/ */
export function spdxOfExecutable(npm: NpmSpdx, executable: Executable): object {
  const { packages, node, version, madeAt } = executable;
  const self = `${metadata.name}@${version}`;
  const kept = npm.packages.filter(({ name, versionInfo }) =>
    [self, ...packages].includes(`${name}@${versionInfo}`),
  );
  const identifiers = new Set(['SPDXRef-DOCUMENT', ...kept.map(({ SPDXID }) => SPDXID)]);
  const selfIdentifier = kept.find(({ name }) => name === metadata.name)?.SPDXID ?? '';
  const content = [self, ...packages, node.node.version, madeAt.toISOString()];
  return {
    ...npm,
    documentNamespace: `http://spdx.org/spdxdocs/${metadata.name}-${version}-${identifierFrom(content)}`,
    creationInfo: {
      ...(npm['creationInfo'] as object),
      created: madeAt.toISOString().replace(/\.\d+Z$/, 'Z'),
    },
    packages: [...kept.map(asShipped), packageOf(node.node), ...node.libraries.map(packageOf)],
    relationships: [
      ...npm.relationships.filter(
        ({ spdxElementId, relatedSpdxElement }) =>
          identifiers.has(spdxElementId) && identifiers.has(relatedSpdxElement),
      ),
      relationship(selfIdentifier, 'CONTAINS', node.node),
      ...node.libraries.map((each) => relationship(identifierOf(node.node), 'CONTAINS', each)),
    ],
  };
}

const asShipped = (each: NpmSpdx['packages'][number]): object =>
  each.name === metadata.name ? { ...each, primaryPackagePurpose: 'APPLICATION' } : each;

// An identifier has letters, digits, dots and hyphens only: SPDX 2.3, 7.2.
const identifierOf = ({ name, version }: Part): string =>
  `SPDXRef-NodePart-${name}-${version}`.replace(/[^a-zA-Z0-9.-]/g, '-');

const relationship = (spdxElementId: string, relationshipType: string, to: Part): object => ({
  spdxElementId,
  relationshipType,
  relatedSpdxElement: identifierOf(to),
});

function packageOf(part: Part): object {
  const { name, version, license } = part;
  const cpe = cpeOf(part);
  return {
    name,
    SPDXID: identifierOf(part),
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseDeclared: license,
    externalRefs: [
      reference('PACKAGE-MANAGER', 'purl', purlOf(part)),
      ...(cpe === null ? [] : [reference('SECURITY', 'cpe23Type', cpe)]),
    ],
  };
}

const reference = (referenceCategory: string, referenceType: string, referenceLocator: string): object => ({
  referenceCategory,
  referenceType,
  referenceLocator,
});

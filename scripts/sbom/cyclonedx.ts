// Turns npm's CycloneDX document, which is about a folder of packages, into one about the executable.
import { createHash } from 'node:crypto';
import metadata from '../../package.json' with { type: 'json' };
import type { Executable } from './executable.ts';
import type { NpmCycloneDx } from './npm-sbom.ts';
import { cpeOf, type Part, purlOf } from './parts-of-node.ts';

/** The CycloneDX 1.5 document of the executable: https://cyclonedx.org/docs/1.5/json/ */
export function cycloneDxOfExecutable(npm: NpmCycloneDx, executable: Executable): object {
  const { packages, node, version, madeAt } = executable;
  const self = `${metadata.name}@${version}`;
  const nodeReference = referenceOf(node.node);
  const inside = new Set([self, ...packages]);
  const components = npm.components.filter(({ 'bom-ref': reference }) => inside.has(reference));
  const ofNode = { ...componentOf(node.node, 'platform'), components: node.libraries.map(library) };
  return {
    ...npm,
    serialNumber: `urn:uuid:${identifierFrom([self, nodeReference, ...packages, madeAt.toISOString()])}`,
    metadata: { ...npm.metadata, timestamp: madeAt.toISOString(), component: applicationFrom(npm) },
    components: [...components, ofNode],
    dependencies: [
      ...npm.dependencies
        .filter(({ ref }) => inside.has(ref))
        .map(({ ref, dependsOn }) => ({
          ref,
          dependsOn: [
            ...dependsOn.filter((each) => inside.has(each)),
            ...(ref === self ? [nodeReference] : []),
          ],
        })),
      { ref: nodeReference, dependsOn: node.libraries.map(referenceOf) },
      ...node.libraries.map((each) => ({ ref: referenceOf(each), dependsOn: [] })),
    ],
  };
}

// npm calls the project by the name of its folder, and a library.
const applicationFrom = ({ metadata: { component } }: NpmCycloneDx): object => ({
  ...component,
  type: 'application',
  name: metadata.name,
});

const library = (part: Part): object => componentOf(part, 'library');

const referenceOf = ({ name, version }: Part): string => `node-part:${name}@${version}`;

function componentOf(part: Part, type: 'library' | 'platform'): object {
  const { name, version, license } = part;
  const cpe = cpeOf(part);
  return {
    'bom-ref': referenceOf(part),
    type,
    name,
    version,
    scope: 'required',
    ...(cpe === null ? {} : { cpe }),
    purl: purlOf(part),
    licenses: [license.includes(' ') ? { expression: license } : { license: { id: license } }],
  };
}

/** A UUID that is the same for the same content, in the form of version 8: RFC 9562, section 5.8. */
export function identifierFrom(content: readonly string[]): string {
  const bytes = createHash('sha256').update(content.join('\n')).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

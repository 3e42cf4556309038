// Asks npm for what it knows of the installed packages.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as z from 'zod';

const run = promisify(execFile);
const timeoutMs = 60_000;
const bytesMax = 32 * 1024 * 1024;

const cycloneDxSchema = z.looseObject({
  metadata: z.looseObject({ component: z.looseObject({ 'bom-ref': z.string() }) }),
  components: z.array(z.looseObject({ 'bom-ref': z.string(), name: z.string(), version: z.string() })),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

const spdxSchema = z.looseObject({
  packages: z.array(z.looseObject({ SPDXID: z.string(), name: z.string(), versionInfo: z.string() })),
  relationships: z.array(
    z.object({ spdxElementId: z.string(), relatedSpdxElement: z.string(), relationshipType: z.string() }),
  ),
});

const schemas = { cyclonedx: cycloneDxSchema, spdx: spdxSchema };

export type NpmCycloneDx = z.infer<typeof cycloneDxSchema>;
export type NpmSpdx = z.infer<typeof spdxSchema>;

/**
 * What `npm sbom` says of everything that is installed, from what lies here, without asking the network.
 *
 * Not with `--omit dev`: npm then leaves out `yaml`, which we ship, because a development tool names it as an
 * optional companion (npm 11.19.1).
 * @throws when npm cannot be run, or says something else than it is known to
 */
export async function npmSbom<Format extends keyof typeof schemas>(format: Format, directory: string) {
  const options = { cwd: directory, timeout: timeoutMs, maxBuffer: bytesMax };
  const words = ['sbom', `--sbom-format=${format}`, '--offline'];
  const { stdout } = await run('npm', words, { ...options, shell: process.platform === 'win32' });
  return schemas[format].parse(JSON.parse(stdout)) as z.infer<(typeof schemas)[Format]>;
}

// Packs the payload as an .rpm, with rpmbuild and a spec that is made from the same list of files as the .deb.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type BuildPlan, packageName, pathsOf, projectRoot, rpmArchitecture } from './artefacts.ts';
import { layOut, type PayloadEntry, payloadOf } from './payload.ts';
import { reproducible, runTool } from './tools.ts';

const folder = join(projectRoot, 'infra/packages/rpm');
const scriptlets = ['post', 'preun', 'postun', 'posttrans'];

/** Builds the .rpm from the executable that stands beside it. @returns its path @throws PackagingError */
export async function buildRpm(plan: BuildPlan): Promise<string> {
  const { rpm } = pathsOf(plan);
  const work = mkdtempSync(join(tmpdir(), 'seb-rpm-'));
  try {
    // Rpm has a changelog of its own.
    const entries = (await payloadOf(plan)).filter(({ path }) => !path.endsWith('changelog.gz'));
    layOut(entries, join(work, 'tree'), plan);
    const spec = join(work, 'seb.spec');
    writeFileSync(spec, specOf(entries, plan));
    const definitions = Object.entries(macros(work, plan)).flatMap((pair) => ['--define', pair.join(' ')]);
    const target = `${rpmArchitecture(plan)}-linux`;
    runTool('rpmbuild', ['-bb', '--target', target, ...definitions, spec], {
      env: reproducible(plan),
      from: 'the package rpm or rpm-build',
    });
    copyFileSync(join(work, rpmArchitecture(plan), basename(rpm)), rpm);
    return rpm;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Nothing of this machine and of this moment; and no work on an executable that would not survive it. */
const macros = (work: string, { compression }: BuildPlan) => ({
  _topdir: work,
  _rpmdir: work,
  _seb_tree: join(work, 'tree'),
  _buildhost: 'reproducible',
  use_source_date_epoch_as_buildtime: '1',
  clamp_mtime_to_source_date_epoch: '1',
  __os_install_post: '%{nil}',
  debug_package: '%{nil}',
  _build_id_links: 'none',
  // Two threads always: how many there are shows in what xz writes.
  _binary_payload: compression === 'best' ? 'w6T2.xzdio' : 'w1.gzdio',
});

function specOf(entries: readonly PayloadEntry[], plan: BuildPlan): string {
  const values: Readonly<Record<string, string>> = {
    package: packageName,
    version: plan.version,
    files: entries.map(fileLine).join('\n'),
    scriptlets: scriptlets.map(scriptlet).join('\n\n'),
    date: dateOf(plan),
  };
  const template = readFileSync(join(folder, 'spec'), 'utf8');
  return template.replace(/@(\w+)@/g, (whole, name: string) => values[name] ?? whole);
}

/** A folder of our own is listed itself; the others belong to the system. */
function fileLine({ path, mode, kind }: PayloadEntry): string {
  const rights = `%attr(0${mode.toString(8)}, root, root)`;
  if (kind === 'directory') return `%dir ${rights} /${path}`;
  if (kind === 'link') return `/${path}`;
  const marks = path.includes('/share/doc/') ? '%doc ' : '';
  return `${marks}${rights} /${path}`;
}

/** In a spec a percent sign begins a macro. */
const scriptlet = (name: string): string =>
  `%${name} -p /bin/sh\n${readFileSync(join(folder, name), 'utf8').replaceAll('%', '%%')}`;

const dateOf = ({ epochSeconds }: BuildPlan): string => {
  const [, weekday, day, month, year] =
    /^(\w+), (\d+) (\w+) (\d+)/.exec(new Date(epochSeconds * 1000).toUTCString()) ?? [];
  return `${weekday} ${month} ${day} ${year}`;
};

// Names the Node.js that is inside the executable, and the libraries that are inside of it.

export interface Part {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  /** How vulnerability databases call it, without the version; null where they know no name of its own. */
  readonly cpe: string | null;
}

export interface PartsOfNode {
  readonly node: Part;
  readonly libraries: readonly Part[];
}

type Library = readonly [name: string, license: string, cpe?: string];

/** The libraries by their names in `process.versions`. */
const libraries: Readonly<Record<string, Library>> = {
  acorn: ['acorn', 'MIT'],
  ada: ['ada', 'MIT OR Apache-2.0'],
  amaro: ['amaro', 'MIT'],
  ares: ['c-ares', 'MIT', 'c-ares:c-ares'],
  brotli: ['brotli', 'MIT', 'google:brotli'],
  icu: ['icu', 'Unicode-3.0', 'unicode:international_components_for_unicode'],
  llhttp: ['llhttp', 'MIT', 'llhttp:llhttp'],
  merve: ['merve', 'MIT OR Apache-2.0'],
  nbytes: ['nbytes', 'MIT'],
  ncrypto: ['ncrypto', 'MIT'],
  nghttp2: ['nghttp2', 'MIT', 'nghttp2:nghttp2'],
  openssl: ['openssl', 'Apache-2.0', 'openssl:openssl'],
  simdjson: ['simdjson', 'MIT OR Apache-2.0'],
  simdutf: ['simdutf', 'MIT OR Apache-2.0'],
  sqlite: ['sqlite', 'blessing', 'sqlite:sqlite'],
  undici: ['undici', 'MIT', 'nodejs:undici'],
  uv: ['libuv', 'MIT', 'libuv:libuv'],
  uvwasi: ['uvwasi', 'MIT'],
  v8: ['v8', 'BSD-3-Clause'],
  zlib: ['zlib', 'Zlib', 'zlib:zlib'],
  zstd: ['zstd', 'BSD-3-Clause', 'facebook:zstandard'],
};

/** Numbers of interfaces and of data, not of code. */
const noLibraries = ['node', 'modules', 'napi', 'cldr', 'tz', 'unicode'];

/**
 * Node and what is compiled into it.
 *
 * @param versions `process.versions` of that Node; a library that it was built without has an empty version
 * @throws when it names something nobody has looked at: a new Node asks for a new look
 */
export function partsOfNode(versions: Readonly<Record<string, string | undefined>>): PartsOfNode {
  const named = Object.entries(versions).filter(([key, version]) => version && !noLibraries.includes(key));
  const unknown = named.map(([key]) => key).filter((key) => !(key in libraries));
  if (unknown.length > 0)
    throw new Error(`nobody has looked at these parts of Node yet: ${unknown.join(', ')}`);
  return {
    node: { name: 'node', version: versions['node'] ?? '', license: 'MIT', cpe: 'nodejs:node.js' },
    libraries: named.flatMap(([key, version = '']) => {
      const library = libraries[key];
      return library === undefined ? [] : [libraryPart(library, version)];
    }),
  };
}

const libraryPart = ([name, license, cpe]: Library, version: string): Part => ({
  name,
  version,
  license,
  cpe: cpe ?? null,
});

/** The whole name by which vulnerability databases know the part: CPE 2.3, with the part of the version they number by. */
export const cpeOf = ({ cpe, version }: Part): string | null =>
  cpe === null ? null : `cpe:2.3:a:${cpe}:${version.replace(/-.*$/, '')}:*:*:*:*:*:*:*`;

/** Where the part is from; it is no package of a registry. */
export const purlOf = ({ name, version }: Part): string =>
  `pkg:generic/${name}@${encodeURIComponent(version)}`;

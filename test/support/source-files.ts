// The project's own files as text, with what each of them imports: for the tests that read code.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../../', import.meta.url));

export interface SourceFile {
  /** From the project's root, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The text without comments and without the inside of quotes, line for line. */
  readonly code: string;
}

/** Every TypeScript file below a folder of the project. */
export function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/(^|[\\/])node_modules[\\/]/.test(name))
    .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
    .sort()
    .map((path) => {
      const text = readFileSync(join(projectRoot, path), 'utf8');
      return { path, text, code: codeOf(text) };
    });
}

/** Both `import … from` and `import()`; a file of the project is given by its path, a package by its name. */
export function importsOf({ path, text }: SourceFile): string[] {
  const specifiers = [
    ...text.matchAll(/^(?:import|export)\s[^'"`]*?from '([^']+)'/gm),
    ...text.matchAll(/^import '([^']+)'/gm),
    ...text.matchAll(/\bimport\(\s*'([^']+)'/g),
  ].map((match) => match[1] ?? '');
  return specifiers.map((specifier) =>
    specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : packageOf(specifier),
  );
}

const packageOf = (specifier: string): string =>
  specifier.startsWith('node:') || !specifier.includes('/')
    ? specifier
    : specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

function codeOf(text: string): string {
  const quoted = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;
  const comments = /\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/[^\n]*/g;
  return text.replace(comments, blank).replace(quoted, (match) => `'${blank(match.slice(1, -1))}'`);
}

// Whether the text is Bicep, and keeps away from what the grammar reads wrongly or not at all.
import type { Node } from 'web-tree-sitter';
import { lineOf, nodesIn, propertyName } from './grammar.ts';
import { declarationsIn, type Fault, type Project, remembered, rootIn } from './project.ts';

/** What Bicep allows and the grammar does not know: none of it may stand in a file. */
const unreadable: readonly (readonly [RegExp, string])[] = [
  [/^\s*\.\.\.\w/m, 'a spread'],
  [/\bresource(?:Input|Output)</, 'resourceInput or resourceOutput'],
  [/^\s*var \w+ [^=\s]+ =/m, 'a typed variable'],
  [/\$+'''/, 'an interpolated multi-line string'],
  [/^\s*extension\b/m, 'an extension'],
  [/\[\?/, 'a safe index'],
  [/\w!\./, 'a null-forgiving operator'],
];

/** Every fault in how the files are written. */
export const layoutFaults = (project: Project): Fault[] =>
  [...project.keys()].flatMap((path) => faultsIn(project, path));

const faultsIn = remembered((project, path) => {
  const text = project.get(path) ?? '';
  return [
    ...syntaxFaults(project, path),
    ...unreadable.flatMap(([pattern, what]) => {
      const at = pattern.exec(codeOf(text))?.index;
      return at === undefined
        ? []
        : [{ path, line: lineAt(text, at), says: `the grammar cannot read ${what}` }];
    }),
    ...objectFaults(project, path),
    ...duplicateFaults(project, path),
  ];
});

/** The text without comments and without what stands in quotes, place for place. */
const codeOf = (text: string): string =>
  text
    .replace(/(^|[^:])\/\/.*$/gm, (match) => ' '.repeat(match.length))
    .replace(/'(?!'')(?:[^'\\\n]|\\.)*'/g, (match) => `'${' '.repeat(match.length - 2)}'`);

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;

function syntaxFaults(project: Project, path: string): Fault[] {
  return [...nodesIn(rootIn(project, path))]
    .filter(({ isError, isMissing }) => isError || isMissing)
    .map((node) => ({ path, line: lineOf(node), says: `cannot be read: ${node.text.slice(0, 40)}` }));
}

/** The grammar takes two properties or elements in one line without a comma; Bicep does not. */
function objectFaults(project: Project, path: string): Fault[] {
  return rootIn(project, path)
    .descendantsOfType(['object', 'array'])
    .flatMap((object) => {
      const parts = object.namedChildren.filter(({ type }) => !/comment/.test(type));
      const crowded = parts.filter((part, index) => isCrowded(object, parts[index - 1], part));
      const names = parts.flatMap((part) => (part.type === 'object_property' ? [propertyName(part)] : []));
      const twice = names.filter((name, index) => name !== undefined && names.indexOf(name) !== index);
      return [
        ...crowded.map((part) => ({
          path,
          line: lineOf(part),
          says: 'two parts in one line without a comma',
        })),
        ...twice.map((name) => ({ path, line: lineOf(object), says: `${name} is there twice` })),
      ];
    });
}

function isCrowded(object: Node, before: Node | undefined, part: Node): boolean {
  if (before === undefined || before.endPosition.row !== part.startPosition.row) return false;
  const between = object.text.slice(before.endIndex - object.startIndex, part.startIndex - object.startIndex);
  // `f(x)` as an element: one part that the grammar takes for two.
  return between !== '' && !between.includes(',');
}

function duplicateFaults(project: Project, path: string): Fault[] {
  const { outputs, ...others } = declarationsIn(project, path);
  return [Object.values(others).flat(), outputs].flatMap((all) =>
    all
      .filter(({ name }, index) => all.findIndex((each) => each.name === name) !== index)
      .map(({ name, node }) => ({ path, line: lineOf(node), says: `${name} is declared twice` })),
  );
}

// Reads XML as strictly as the tests need: everything closed, in order, with quoted attributes and nothing unescaped.
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

const token =
  /<!--(?:(?!--)[\s\S])*-->|<\?xml[^?]*\?>|<\/[A-Za-z][\w.-]*\s*>|<[A-Za-z][^<>]*>|[^<>]+|[\s\S]/g;
const attribute = /\s+([A-Za-z][\w.-]*)="([^"<]*)"/g;
const bareAmpersand = /&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)/;

/** @throws when it is not well-formed */
export function parseXml(text: string): XmlElement {
  const document: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [document];
  for (const [part] of text.matchAll(token)) take(part, open);
  const [root] = document.children;
  if (root === undefined || document.children.length > 1) throw new Error('there must be one root');
  if (open.length > 1) throw new Error(`<${open.at(-1)?.name}> is not closed`);
  if (document.text.trim() !== '') throw new Error('there is text outside of the root');
  return root;
}

function take(part: string, open: XmlElement[]): void {
  const innermost = open.at(-1);
  if (innermost === undefined || /^[<>]$/.test(part)) throw new Error(`"${part}" stands where it may not`);
  if (part.startsWith('<!--') || part.startsWith('<?')) return;
  if (part.startsWith('</')) {
    if (part.slice(2, -1).trim() !== innermost.name) throw new Error(`${part} closes <${innermost.name}>`);
    open.pop();
  } else if (part.startsWith('<')) {
    const element = elementOf(part);
    innermost.children.push(element);
    if (!part.endsWith('/>')) open.push(element);
  } else {
    if (bareAmpersand.test(part)) throw new Error(`"&" must be escaped: ${part}`);
    innermost.text += part;
  }
}

function elementOf(tag: string): XmlElement {
  const name = /^<([A-Za-z][\w.-]*)/.exec(tag)?.[1] ?? '';
  const attributes = [...tag.matchAll(attribute)].map(([, key = '', value = '']) => [key, value]);
  const rest = tag
    .slice(name.length + 1)
    .replace(attribute, '')
    .trim();
  if (rest !== '>' && rest !== '/>') throw new Error(`${tag} is no tag`);
  return { name, attributes: Object.fromEntries(attributes), children: [], text: '' };
}

/** All elements, outer ones first. */
export const elementsOf = (root: XmlElement): XmlElement[] => [root, ...root.children.flatMap(elementsOf)];

// The version of the program and the Node that it needs, from package.json so that each stands in one place; the bundle
// carries it inside.
import metadata from '../package.json' with { type: 'json' };

export const version: string = metadata.version;

/** What to say to whoever runs the npm package with an older Node; null where this one will do. */
export function complaintOfNode(node: string): string | null {
  const needed = metadata.engines.node.replace('>=', '');
  const isOlder = Number.parseInt(node, 10) < Number.parseInt(needed, 10);
  return isOlder ? `this needs Node ${needed} or later, and here is ${node}` : null;
}

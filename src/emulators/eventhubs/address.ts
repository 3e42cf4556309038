// What the address of a link, or the audience of a token, names.

export type Address =
  | { readonly kind: 'cbs' }
  | { readonly kind: 'management'; readonly hub: string | undefined }
  | { readonly kind: 'publish'; readonly hub: string; readonly partition: string | undefined }
  | { readonly kind: 'read'; readonly hub: string; readonly group: string; readonly partition: string }
  | { readonly kind: 'unknown'; readonly path: string };

/** @returns the path of an address, without scheme and host (Python clients send both) */
export function pathOf(address: string): string {
  return address.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/^\/+|\/+$/g, '');
}

const read = /^([^/]+)\/ConsumerGroups\/([^/]+)\/Partitions\/([^/]+)$/i;
const publish = /^([^/$][^/]*)(?:\/Partitions\/([^/]+))?$/i;
const management = /^(?:([^/]+)\/)?\$management$/i;

/** @param address of a link, as a path or as a URL */
export function parseAddress(address: string): Address {
  const path = pathOf(address);
  if (path.toLowerCase() === '$cbs') return { kind: 'cbs' };
  const managed = management.exec(path);
  if (managed) return { kind: 'management', hub: managed[1] };
  const [, hub, group, partition] = read.exec(path) ?? [];
  if (hub !== undefined && group !== undefined && partition !== undefined)
    return { kind: 'read', hub, group, partition };
  const [, target, of] = publish.exec(path) ?? [];
  return target === undefined ? { kind: 'unknown', path } : { kind: 'publish', hub: target, partition: of };
}

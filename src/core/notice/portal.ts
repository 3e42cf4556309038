// Where a resource is found in the Azure portal.

const armId = /^\/subscriptions(?:\/[^/]+)+$/i;
const lengthMax = 1_024;

/** The page of a resource. @returns null for what is no ARM id of a subscription's resource */
export function portalUrlOf(resourceId: string | null): string | null {
  if (resourceId === null || resourceId.length > lengthMax || !armId.test(resourceId)) return null;
  const path = resourceId.toWellFormed().split('/').map(encodeSegment).join('/');
  return `https://portal.azure.com/#resource${path}/overview`;
}

// What encodeURIComponent leaves alone would still end a link in Markdown.
const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

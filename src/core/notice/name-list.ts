// Lists of names for people: whole as long as there is room, and honest about what is left out.

// Some 60 names of VMs: a set of several placement groups still stands there whole, phase by phase.
const listLengthMax = 900;

/**
 * The names in one line, such as `web-1, web-2 and 3 more VMs`.
 * @param what what they are, more than one of them
 * @param lengthMax in UTF-16 units, for all but the last words
 */
export function nameList(names: readonly string[], what: string, lengthMax = listLengthMax): string {
  const shown: string[] = [];
  let length = 0;
  for (const name of names) {
    length += name.length + 2;
    if (shown.length > 0 && length > lengthMax) break;
    shown.push(name);
  }
  const more = names.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more ${what}`;
}

/** Such as `1 VM` or `3 VMs`. @param what the word for one */
export const countText = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

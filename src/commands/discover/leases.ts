// Reads the leases that the DHCP clients of this machine keep, and finds who names the address of Azure's fabric.
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fabricInLease } from '../../core/dhcp-lease.ts';

export interface LeasePlace {
  readonly directory: string;
  /** Which files of it are leases. */
  readonly names: RegExp;
}

const lease = /\.leases?$/;

/** Where clients keep their leases on Linux. */
export const leasePlaces: readonly LeasePlace[] = [
  { directory: '/run/systemd/netif/leases', names: /^\d+$/ },
  { directory: '/run/NetworkManager/devices', names: /^\d+$/ },
  { directory: '/var/lib/NetworkManager', names: lease },
  { directory: '/var/lib/dhcp', names: lease },
  { directory: '/var/lib/dhclient', names: lease },
  { directory: '/var/lib/dhcpcd', names: lease },
  { directory: '/run/cloud-init/dhclient.hooks', names: /\.json$/ },
];

/** Every file of a directory that somebody names. */
export const placeNamed = (directory: string): LeasePlace => ({ directory, names: /^/ });

/** What the leases of a machine say. */
export interface FoundInLeases {
  /** One for each address, the newest file that has it first. */
  readonly found: readonly { readonly address: string; readonly path: string }[];
  /** How many files were read. */
  readonly read: number;
  /** What is there and may not, or cannot, be read, with what the system says. */
  readonly unreadable: readonly { readonly path: string; readonly fault: string }[];
}

const filesMax = 200;
const bytesMax = 1024 * 1024;

type Attempt<Value> = { readonly value: Value } | { readonly fault: string };

/** Looks through places, in this order; a directory that is not there is none. */
export function readLeases(places: readonly LeasePlace[]): FoundInLeases {
  const listed = places.map((place) => ({ path: place.directory, ...attempt(() => filesOf(place)) }));
  const files = listed
    .flatMap((place) => ('value' in place ? place.value : []))
    .map((path) => ({ path, ...attempt(() => fabricInLease(readFileSync(path))) }));
  const known = new Map<string, string>();
  for (const file of files) {
    if ('value' in file && file.value !== null && !known.has(file.value)) known.set(file.value, file.path);
  }
  return {
    found: [...known].map(([address, path]) => ({ address, path })),
    read: files.filter((file) => 'value' in file).length,
    unreadable: [...listed, ...files].flatMap((each) =>
      'fault' in each && each.fault !== 'ENOENT' ? [{ path: each.path, fault: each.fault }] : [],
    ),
  };
}

/** The newest first; a link is none, as root is not to be led elsewhere. */
const filesOf = ({ directory, names }: LeasePlace): string[] =>
  readdirSync(directory)
    .filter((name) => names.test(name))
    .map((name) => join(directory, name))
    .flatMap((path) => {
      const status = lstatSync(path, { throwIfNoEntry: false });
      return status?.isFile() && status.size <= bytesMax ? [{ path, changedAt: status.mtimeMs }] : [];
    })
    .toSorted((one, other) => other.changedAt - one.changedAt)
    .slice(0, filesMax)
    .map(({ path }) => path);

function attempt<Value>(read: () => Value): Attempt<Value> {
  try {
    return { value: read() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { fault: code };
  }
}

// `seb discover`: where the metadata service is for a VM that is in no virtual network.
import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { type ListenAddress, parseListenAddress } from '../config/listen.ts';
import { type CommandContext, defineCommand, numberOption, textOption, UsageError } from './command.ts';
import { type Asked, askNetwork } from './discover/ask.ts';
import { type FoundInLeases, leasePlaces, placeNamed, readLeases } from './discover/leases.ts';
import { type Column, outputFormat, outputOptions, printRows } from './table.ts';

const usualServer = '255.255.255.255:67';
const usualFrom = '0.0.0.0:68';

export const discover = defineCommand({
  name: 'discover',
  summary: 'Finds the metadata service of a VM outside a virtual network, by DHCP option 245.',
  options: {
    ask: {
      type: 'boolean',
      description: 'Ask the network when no lease tells: as root, with one DHCP question.',
    },
    'lease-dir': {
      type: 'string',
      value: 'DIR',
      description: 'Look for leases here, instead of in the usual places.',
    },
    server: {
      type: 'string',
      value: 'HOST:PORT',
      description: `Whom --ask asks; default ${usualServer}, everybody.`,
    },
    from: { type: 'string', value: 'HOST:PORT', description: `Where --ask asks from; default ${usualFrom}.` },
    interface: {
      type: 'string',
      value: 'NAME',
      description: 'Whose hardware address --ask gives; default the first.',
    },
    timeout: {
      type: 'string',
      value: 'SECONDS',
      description: 'How long --ask waits, in four tries; default 15.',
    },
    ...outputOptions,
  },
  examples: [
    { line: 'discover', shows: 'what the leases of this machine say, without a packet' },
    { line: 'discover --ask -o json', shows: 'what a DHCP server says, as JSON' },
  ],
  notes: [
    'Only VMs outside a virtual network need this: classic VMs, which Azure retired on 2023-09-06, and Cloud Services (classic), retired on 2024-08-31. Every VM of today is in a virtual network, and has the metadata service at http://169.254.169.254, which "imds.endpoint" is unless given.',
    'Azure names the same address to VMs in a virtual network: 168.63.129.16 is its wire server. That this says something is therefore no reason to use it; "seb current --endpoint URL" says whether Scheduled Events are there.',
    'Nothing is changed: no lease is taken, no file, firewall rule or variable is written. On Windows there are no such files; --ask was never tried there.',
    'Ends with 0 when an address was found, and with 1 when none was.',
  ],
  async run(context) {
    outputFormat(context);
    const asking = askingOf(context);
    const directory = leaseFolder(context);
    const leases = readLeases(directory === undefined ? leasePlaces : [placeNamed(directory)]);
    if (leases.found.length > 0) {
      return await tell(
        context,
        leases.found.map(({ address, path }) => ({ address, foundIn: path })),
      );
    }
    if (asking === null) return complain(context, noLease(leases));
    const asked = await askNetwork(asking, context.signal);
    if (context.signal.aborted) return 1;
    if (asked.status !== 'found') return complain(context, unanswered(asked, asking.timeoutMs));
    return await tell(context, [{ address: asked.address, foundIn: `DHCP server ${asked.server}` }]);
  },
});

interface Discovery {
  readonly address: string;
  readonly foundIn: string;
}

// The option names no port: the sample in Python asked port 80, the one in C# 8080.
const endpointOf = ({ address }: Discovery): string => `http://${address}:80`;

const columns: readonly Column<Discovery>[] = [
  { name: 'address', value: ({ address }) => address },
  { name: 'endpoint', value: endpointOf, hidden: true },
  {
    name: 'setting',
    heading: 'FOR AGENT.YAML',
    value: (found) => `imds: { endpoint: "${endpointOf(found)}" }`,
  },
  { name: 'foundIn', heading: 'FOUND IN', value: ({ foundIn }) => foundIn },
];

const wireServer = '168.63.129.16';

async function tell(context: CommandContext, found: readonly Discovery[]): Promise<number> {
  await printRows(context, columns, found);
  const named = found.some(({ address }) => address === wireServer)
    ? `${wireServer} is Azure's wire server, which every VM is told of. `
    : '';
  context.stderr.write(
    `${named}Only a VM outside a virtual network needs this, and those are retired: classic VMs since 2023-09-06, Cloud Services (classic) since 2024-08-31. On any other VM leave imds.endpoint out: http://169.254.169.254 is right there.\n`,
  );
  return 0;
}

/** @throws UsageError */
function leaseFolder(context: CommandContext): string | undefined {
  const path = textOption(context, 'lease-dir');
  if (path === undefined || existsSync(path)) return path;
  throw new UsageError(`--lease-dir takes a folder; "${path}" is not there`);
}

function complain({ stderr }: CommandContext, sentence: string): number {
  stderr.write(`seb: ${sentence}\n`);
  return 1;
}

function noLease({ read, unreadable }: FoundInLeases): string {
  const [first] = unreadable;
  const closed = first === undefined ? '' : `, and ${first.path} cannot be read (${first.fault})`;
  const searched = read === 0 ? 'no lease was found here' : `none of the ${read} leases here has option 245`;
  return `${searched}${closed}; "seb discover --ask" asks the network, as root`;
}

function unanswered(asked: Exclude<Asked, { status: 'found' }>, timeoutMs: number): string {
  switch (asked.status) {
    case 'without':
      return `the DHCP server ${asked.server} names no address in option 245: this network is not Azure's, or the VM needs no such address`;
    case 'silent':
      return `no DHCP server answered within ${timeoutMs / 1_000} s`;
    case 'failed':
      return `the question cannot be sent: ${faults[asked.code] ?? `the system says ${asked.code}`}`;
  }
}

const faults: Readonly<Record<string, string>> = {
  EACCES: 'port 68 is for root, so run it with sudo',
  EADDRINUSE: 'another program has the port that it comes from to itself',
  ENETUNREACH: 'no interface leads to a network',
};

/** @throws UsageError */
function askingOf(context: CommandContext) {
  if (context.options['ask'] !== true) return null;
  return {
    server: addressOption(context, 'server', usualServer),
    from: addressOption(context, 'from', usualFrom),
    hardwareAddress: hardwareAddressOf(textOption(context, 'interface')),
    timeoutMs: numberOption(context, 'timeout', { fallback: 15, min: 0.1, max: 300 }) * 1_000,
  };
}

function addressOption(context: CommandContext, name: string, usual: string): ListenAddress {
  const written = textOption(context, name) ?? usual;
  const address = parseListenAddress(written);
  if (address !== null && !address.host.includes(':')) return address;
  throw new UsageError(
    `--${name} takes an IPv4 address or a name, and a port, such as ${usual}, not "${written}"`,
  );
}

function hardwareAddressOf(name: string | undefined): Uint8Array {
  const all = Object.entries(networkInterfaces()).map(([key, addresses = []]) => ({ key, addresses }));
  const chosen = all.find(({ key, addresses }) =>
    name === undefined
      ? addresses.some(({ family, internal }) => family === 'IPv4' && !internal)
      : key === name,
  );
  const mac = chosen?.addresses[0]?.mac;
  if (mac !== undefined) return Uint8Array.from(mac.split(':'), (part) => Number.parseInt(part, 16));
  const known = all.map(({ key }) => key).join(', ') || 'none';
  throw new UsageError(
    name === undefined
      ? `this machine has no interface with an IPv4 address; name one with --interface: ${known}`
      : `there is no interface "${name}" with an address; there is ${known}`,
  );
}

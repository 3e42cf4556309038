// Writes the manual page seb(1) from what the commands themselves say to `--help`.
import type { Command, CommandOption } from '../../src/commands/command.ts';
import { registry } from '../../src/commands/registry.ts';
import { version } from '../../src/version.ts';

const files: readonly (readonly [string, string])[] = [
  ['/etc/scheduled-events-bridge/agent.yaml', 'Settings of the agent; not there until you write it.'],
  ['/etc/scheduled-events-bridge/consumer.yaml', 'Settings of the consumer; likewise.'],
  ['/etc/scheduled-events-bridge/credentials/', 'One file for each secret, for { credential: NAME }.'],
  ['/var/lib/scheduled-events-bridge/', "The agent's outbox and the consumer's trail."],
  [
    '/usr/share/doc/scheduled-events-bridge/examples/',
    'Settings to begin with, and drop-ins for the services.',
  ],
];

const exits: readonly (readonly [string, string])[] = [
  ['0', 'Fine.'],
  ['1', 'Failed.'],
  ['2', 'Wrong usage or configuration; the services do not start again after it.'],
  ['130', 'Interrupted.'],
];

const environment: readonly (readonly [string, string])[] = [
  ['CREDENTIALS_DIRECTORY', 'Where { credential: NAME } is looked for; systemd sets it for a service.'],
  ['NODE_EXTRA_CA_CERTS', 'A PEM file of authorities to trust besides those inside the program.'],
  ['NODE_USE_SYSTEM_CA', '1: trusts the authorities of this machine, too.'],
  ['NODE_OPTIONS', 'Has no effect.'],
];

/** The page in the markup of man(7). */
export async function manual(): Promise<string> {
  const commands = await Promise.all(registry.map(({ load }) => load()));
  return [
    `.TH SEB 1 "" "scheduled-events-bridge ${version}" "User Commands"`,
    '.SH NAME',
    'seb \\- announce and record the maintenance that Azure schedules for virtual machines',
    '.SH SYNOPSIS',
    '.B seb',
    '.I COMMAND',
    '.RI [ OPTION ]...',
    '.SH DESCRIPTION',
    'The agent watches the Scheduled Events of the virtual machine it runs on and passes every change on.',
    'The consumer reads what all agents sent to an event hub and keeps the audit trail of the fleet.',
    '.PP',
    'Asking for Scheduled Events switches them on for the machine; so installing the package starts nothing.',
    '.SH COMMANDS',
    ...commands.flatMap(section),
    '.SH EXIT STATUS',
    ...exits.flatMap(term),
    '.SH FILES',
    ...files.flatMap(term),
    '.SH ENVIRONMENT',
    ...environment.flatMap(term),
    '.SH SEE ALSO',
    '.BR systemctl (1),',
    '.BR systemd.exec (5)',
    '',
  ].join('\n');
}

function section({ name, operands = '', summary, options, examples, notes = [] }: Command): string[] {
  return [
    `.SS "${escaped(['seb', name, operands].filter((word) => word !== '').join(' '))}"`,
    escaped(summary),
    ...Object.entries(options).flatMap(([long, option]) => term([spelled(long, option), option.description])),
    ...notes.flatMap((note) => ['.PP', escaped(note)]),
    ...examples.flatMap(({ line, shows }) => [
      '.PP',
      `${escaped(shows)}`,
      '.RS',
      '.nf',
      escaped(`seb ${line}`),
      '.fi',
      '.RE',
    ]),
  ];
}

const term = ([name, text]: readonly [string, string]): string[] => [
  '.TP',
  `\\fB${escaped(name)}\\fR`,
  escaped(text),
];

function spelled(name: string, { short, value, type }: CommandOption): string {
  const long = type === 'string' ? `--${name} ${value ?? 'VALUE'}` : `--${name}`;
  return short === undefined ? long : `-${short}, ${long}`;
}

/** Text that the formatter takes for text: a dash stays a dash that can be copied, and no line begins a request. */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');

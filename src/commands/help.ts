// What `--help` prints: for the program, for a group of commands, for one command.
import type { Command, CommandOption } from './command.ts';
import type { RegisteredCommand } from './registry.ts';

const width = 100;

const about =
  'Scheduled Events Bridge: knows, keeps and passes on every maintenance event that Azure announces to your VMs.';

/** Help for `seb` itself, or for the commands that share their first words. */
export function overview(commands: readonly RegisteredCommand[], group = ''): string {
  const usage = group === '' ? 'seb COMMAND [OPTION]...' : `seb ${group} COMMAND [OPTION]...`;
  return sections([
    group === '' ? wrap(about, 0) : '',
    `Usage: ${usage}`,
    heading(
      'Commands',
      commands.map(({ name, summary }) => [name, summary]),
    ),
    group === '' ? heading('Options', programOptions) : '',
    `"seb COMMAND --help" says more about one command.`,
  ]);
}

const programOptions: readonly (readonly [string, string])[] = [
  ['-h, --help', 'Says how to call the program, or the command before it.'],
  ['--version', 'Prints the version.'],
];

/** Help for one command. */
export async function commandHelp(command: Command): Promise<string> {
  const settings = (await command.settings?.()) ?? [];
  const operands = command.operands ?? '';
  const options = Object.entries(command.options).map(
    ([name, option]) => [spell(name, option), option.description] as const,
  );
  return sections([
    wrap(command.summary, 0),
    `Usage: seb ${[command.name, operands, '[OPTION]...'].filter((word) => word !== '').join(' ')}`,
    heading('Options', [...options, ['-h, --help', 'Prints this.']]),
    command.examples.length === 0 ? '' : `Examples:\n${command.examples.map(example).join('\n')}`,
    ...(command.notes ?? []).map((note) => wrap(note, 0)),
    settings.length === 0 ? '' : heading('Settings of the file', settings),
  ]);
}

const example = ({ line, shows }: Command['examples'][number]): string => `  seb ${line}\n      ${shows}`;

function spell(name: string, { short, value, type }: CommandOption): string {
  const long = type === 'string' ? `--${name} ${value ?? 'VALUE'}` : `--${name}`;
  return short === undefined ? long : `-${short}, ${long}`;
}

function heading(title: string, rows: readonly (readonly [string, string])[]): string {
  const column = Math.min(30, Math.max(...rows.map(([term]) => term.length)) + 4);
  const lines = rows.map(([term, text]) => {
    const lead = `  ${term}`;
    const body = wrap(text, column).trimStart();
    const fits = lead.length + 2 <= column;
    return fits ? `${lead.padEnd(column)}${body}` : `${lead}\n${' '.repeat(column)}${body}`;
  });
  return `${title}:\n${lines.join('\n')}`;
}

/** Breaks a paragraph into lines, all indented alike. */
function wrap(text: string, indent: number): string {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width - indent) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => ' '.repeat(indent) + line).join('\n');
}

const sections = (parts: readonly string[]): string =>
  `${parts.filter((part) => part !== '').join('\n\n')}\n`;

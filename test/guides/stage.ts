// A machine to follow a guide on: own files in /etc and /var/lib, own network, `seb` from source, and Azure's emulator.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { dirname, join } from 'node:path';
import { type ImdsEmulator, startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { type Certificate, issueCertificate } from '../support/certificate.ts';
import { projectRoot } from '../support/source-files.ts';

/** What somebody sent to a host that the stage stands in for. */
export interface StageRequest {
  readonly host: string;
  readonly path: string;
  readonly body: string;
}

/** What came of a block. */
export interface BlockResult {
  readonly output: string;
  /** The commands in it that failed, each with its exit code. */
  readonly failed: readonly string[];
}

export interface Stage {
  readonly imds: ImdsEmulator;
  /** Of every host of the stage; `seb` trusts it. */
  readonly certificate: Certificate;
  readonly requests: readonly StageRequest[];
  /** Runs a shell block as it stands, in the reader's own folder. */
  run(text: string, input?: string): Promise<BlockResult>;
  /** Starts what a service would run; it ends with the stage. */
  startService(...args: readonly string[]): void;
}

const outside = '203.0.113.10';
const configurationDirectory = '/etc/scheduled-events-bridge';

/**
 * Must run in namespaces of its own (`unshare -rmn`), which the end of the process takes down.
 * @param hosts names of the internet, which lead to a receiver on the stage that answers `ok` to everything
 */
export async function openStage(directory: string, hosts: readonly string[]): Promise<Stage> {
  ownFiles(directory);
  command('ip', 'link', 'set', 'lo', 'up');
  command('ip', 'addr', 'add', `${outside}/32`, 'dev', 'lo');
  const lines = [['127.0.0.1', 'localhost'], ...hosts.map((host) => [outside, host])];
  writeFileSync('/etc/hosts', lines.map((line) => `${line.join(' ')}\n`).join(''));
  const certificate = issueCertificate({ names: hosts.length > 0 ? hosts : ['localhost'] });
  const authority = join(directory, 'authority.pem');
  writeFileSync(authority, certificate.cert);
  const requests = await receive(certificate);
  const imds = await startImdsEmulator();
  const home = join(directory, 'home');
  mkdirSync(home);
  const env = {
    PATH: `${programs(directory)}:${process.env['PATH']}`,
    HOME: home,
    NODE_EXTRA_CA_CERTS: authority,
  };
  return {
    imds,
    certificate,
    requests,
    run: (text, input = '') => {
      pointToEmulator(imds.url);
      return runBlock(text, input, { cwd: home, env });
    },
    startService: (...args) => {
      pointToEmulator(imds.url);
      const child = spawn('seb', args, { cwd: home, env, stdio: ['ignore', 'inherit', 'inherit'] });
      process.once('exit', () => child.kill('SIGKILL'));
    },
  };
}

/** Lays folders of the stage over those of the machine, whose own files stay as they are. */
function ownFiles(directory: string): void {
  command('mount', '-t', 'tmpfs', 'tmpfs', directory);
  for (const place of ['/etc', '/var/lib']) {
    const [upper, work] = ['upper', 'work'].map((name) => join(directory, name, place));
    mkdirSync(upper ?? '', { recursive: true });
    mkdirSync(work ?? '', { recursive: true });
    const options = `lowerdir=${place},upperdir=${upper},workdir=${work}`;
    command('mount', '-t', 'overlay', 'overlay', '-o', options, place);
  }
  // What the package brings.
  mkdirSync(join(configurationDirectory, 'credentials'), { recursive: true });
  chmodSync(join(configurationDirectory, 'credentials'), 0o700);
}

/** `seb` runs from source, and `sudo` is there already: the stage is root's. */
function programs(directory: string): string {
  const folder = join(directory, 'bin');
  mkdirSync(folder);
  const cli = join(projectRoot, 'src/cli.ts');
  const texts = { seb: `exec "${process.execPath}" "${cli}" "$@"`, sudo: 'exec "$@"' };
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  return `${folder}:${dirname(process.execPath)}`;
}

/** The one thing that a rehearsal must change in a reader's file: no test ever asks the real metadata service. */
function pointToEmulator(endpoint: string): void {
  const file = join(configurationDirectory, 'agent.yaml');
  if (!existsSync(file) || /^imds:/m.test(readFileSync(file, 'utf8'))) return;
  appendFileSync(file, `imds: { endpoint: "${endpoint}" }\n`);
}

async function receive(certificate: Certificate): Promise<StageRequest[]> {
  const requests: StageRequest[] = [];
  const server = https.createServer(certificate, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { headers, url: path = '' } = request;
      requests.push({ host: headers.host ?? '', path, body: Buffer.concat(parts).toString() });
      response.end('ok');
    });
  });
  server.listen(443).unref();
  await once(server, 'listening');
  return requests;
}

async function runBlock(
  text: string,
  input: string,
  place: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<BlockResult> {
  const noted = 'trap \'echo "FAILED: $BASH_COMMAND ($?)"\' ERR\n';
  // A pipe as standard input makes bash believe in a remote login, and read what a login shell reads.
  const child = spawn('bash', ['--norc', '-u', '-c', noted + text], {
    ...place,
    stdio: 'pipe',
    timeout: 60_000,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part;
    });
  }
  // A short block may be over before it is given its input.
  child.stdin.on('error', () => undefined).end(input);
  await once(child, 'close');
  return { output, failed: output.match(/(?<=^FAILED: ).*$/gm) ?? [] };
}

function command(name: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(name, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name} ${args.join(' ')}: ${stderr}`);
}

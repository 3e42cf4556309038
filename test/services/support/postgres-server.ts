// A PostgreSQL cluster of its own in a temporary folder, from the programs of the distribution.
import { execFile, execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Where the cluster listens; plain, so that it can travel to the tests. */
export interface PostgresAddress {
  /** The folder of its Unix socket, too. */
  readonly folder: string;
  readonly port: number;
  /** Folder of `pg_ctl`, `psql` and the like. */
  readonly programs: string;
  readonly superuser: string;
  readonly password: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    postgres: PostgresAddress;
  }
}

/** A cluster that runs until it is disposed of. */
export interface PostgresServer extends AsyncDisposable {
  readonly address: PostgresAddress;
  start(): Promise<void>;
  /** `fast` ends sessions in order, `immediate` is what a crash leaves behind. */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
}

const run = promisify(execFile);

/** What a cluster may be given: settings as `postgres -c` takes them, and a folder to be in. */
export interface PostgresOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** What it shows to who wants TLS; without it, it speaks none. */
  readonly certificate?: { readonly key: string; readonly cert: string };
  readonly folder?: string;
}

// A test cluster may lose everything when the machine ends; what must be durable says so by `settings`.
const testSettings = {
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '64MB',
  max_connections: '120',
  log_checkpoints: 'off',
  autovacuum_naptime: '5s',
};

/** Makes a cluster and starts it. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = findPrograms();
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'seb-postgres-'));
  const identity = ownIdentity();
  if (identity.uid !== undefined) chownSync(folder, identity.uid, identity.gid);
  const address = { folder, port: await freePort(), programs, superuser: 'admin', password: 'admin' };
  const data = join(folder, 'data');
  const settings = { ...testSettings, ...certified(folder, identity, options), ...options.settings };
  // The folder is gone with the cluster; what a crash of the run leaves behind does not keep a port.
  const call = (program: string, words: readonly string[]) =>
    run(join(programs, program), words, { ...identity, cwd: folder, timeout: 60_000 });
  const start = async (): Promise<void> => {
    const given = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
    const listen = `-c listen_addresses=127.0.0.1 -c port=${address.port} -c unix_socket_directories=${folder}`;
    const log = join(folder, 'log');
    await call('pg_ctl', [
      '-D',
      data,
      '-w',
      '-t',
      '50',
      '-l',
      log,
      '-o',
      [listen, ...given].join(' '),
      'start',
    ]);
  };
  const stop = async (mode: string): Promise<void> => {
    await call('pg_ctl', ['-D', data, '-w', '-t', '30', '-m', mode, 'stop']);
  };
  try {
    await initialize(address, identity);
    await start();
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    address,
    start,
    stop,
    [Symbol.asyncDispose]: async () => {
      if (existsSync(join(data, 'postmaster.pid'))) await stop('immediate').catch(() => undefined);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** PostgreSQL takes a key only when nobody else can read it. */
function certified(folder: string, identity: Identity, { certificate }: PostgresOptions) {
  if (certificate === undefined) return {};
  const [ssl_cert_file, ssl_key_file] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  writeFileSync(ssl_cert_file, certificate.cert);
  writeFileSync(ssl_key_file, certificate.key, { mode: 0o600 });
  if (identity.uid !== undefined) chownSync(ssl_key_file, identity.uid, identity.gid);
  return { ssl: 'on', ssl_cert_file, ssl_key_file };
}

/** Databases are sorted by bytes and hold UTF-8, whatever the locale of the machine. */
async function initialize({ folder, programs, superuser, password }: PostgresAddress, identity: Identity) {
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  const words = ['-D', join(folder, 'data'), '-U', superuser, '--auth=scram-sha-256', '--no-sync'];
  const form = ['--encoding=UTF8', '--locale=C', '--no-instructions', `--pwfile=${passwordFile}`];
  await run(join(programs, 'initdb'), [...words, ...form], { ...identity, cwd: folder, timeout: 60_000 });
}

/** The newest PostgreSQL that Debian or Ubuntu has put here. */
function findPrograms(): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root) : [];
  const found = versions
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => join(root, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'psql')));
  if (found === undefined) throw new Error('PostgreSQL is missing here: run test/services/install first');
  return found;
}

type Identity = { readonly uid: number; readonly gid: number } | { readonly uid?: never };

/** PostgreSQL refuses to run as root. */
function ownIdentity(): Identity {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** A port that nobody has now. Between this and the start somebody may take it: then the start says so. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

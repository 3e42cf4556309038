// Runs in place of the agent, within its unit, and tells as one JSON object what it can do there.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, networkInterfaces } from 'node:os';

const { CREDENTIALS_DIRECTORY: credentials = '', NODE_OPTIONS: nodeOptions = null } = process.env;

/** The value, or the code of the error. */
function tried(work) {
  try {
    return work() ?? 'done';
  } catch (error) {
    return error.code ?? error.message;
  }
}

const statusLine = (name) =>
  new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1];

function listens(port) {
  const { promise, resolve } = Promise.withResolvers();
  const server = createServer();
  server.once('error', ({ code }) => resolve(code));
  server.listen(port, '127.0.0.1', () => server.close(() => resolve('done')));
  return promise;
}

const credentialFiles = tried(() => readdirSync(credentials));
const firstCredential = `${credentials}/${Array.isArray(credentialFiles) ? credentialFiles[0] : ''}`;
const facts = {
  writeUsr: tried(() => writeFileSync('/usr/probe', '')),
  writeEtc: tried(() => writeFileSync('/etc/scheduled-events-bridge/probe', '')),
  writeState: tried(() => writeFileSync('/var/lib/scheduled-events-bridge/probe', '')),
  writeLogs: tried(() => writeFileSync('/var/log/scheduled-events-bridge/probe', '')),
  readShadow: tried(() => readFileSync('/etc/shadow').length),
  readRoot: tried(() => readdirSync('/root').length),
  readOriginalCredential: tried(
    () => readFileSync('/etc/scheduled-events-bridge/credentials/hook.url').length,
  ),
  credentialFiles,
  readCredential: tried(() => readFileSync(firstCredential, 'utf8').trim()),
  // The owner and the group differ from one systemd to another.
  credentialForOthers: tried(() => statSync(firstCredential).mode & 0o227),
  runShell: spawnSync('/bin/sh', ['-c', 'true']).error?.code ?? 'done',
  runShellOfLibrary: spawnSync('/usr/lib/busybox/sh', ['-c', 'true']).error?.code ?? 'done',
  runNotify: spawnSync('/usr/bin/systemd-notify', ['--version']).error?.code ?? 'done',
  netlink: tried(() => Object.keys(networkInterfaces()).length),
  bootId: tried(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  processors: cpus().length,
  ownUid: process.getuid?.(),
  capabilities: statusLine('CapEff'),
  noNewPrivileges: statusLine('NoNewPrivs'),
  seccomp: statusLine('Seccomp'),
  nodeOptions,
  listenStatus: await listens(9464),
  listenOther: await listens(9999),
};
process.stdout.write(`${JSON.stringify(facts)}\n`);

// What a process has open, as the kernel knows it: ports and files. On Linux only.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const listeningState = '0A';

/** The TCP ports on which a process listens, in no order. */
export function listeningPorts(pid: number): number[] {
  const inodes = new Set(openPaths(pid).map((path) => /^socket:\[(\d+)\]$/.exec(path)?.[1]));
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === listeningState && inodes.has(fields[9]))
      .map((fields) => Number.parseInt(fields[1]?.split(':')[1] ?? '', 16)),
  );
}

/** Where the open files of a process are now, and its sockets by number. */
export function openPaths(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      // It was closed between the two looks.
      return [];
    }
  });
}

// A child process under measurement: how much memory it holds, how much time it has used.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

export interface MeasuredProcess extends AsyncDisposable {
  /** Resident memory, MB of 1024 × 1024 bytes. */
  residentMb(): number;
  /** Processor time since its start, s. */
  cpuSeconds(): number;
}

// Linux counts processor time in hundredths of a second on every machine that Node runs on.
const ticksPerSecond = 100;

/** Starts a program whose output nobody reads. Its figures can be read on Linux only. */
export function startMeasured(command: string, args: readonly string[]): MeasuredProcess {
  const child = spawn(command, args, { stdio: 'ignore' });
  const read = (file: string): string => readFileSync(`/proc/${child.pid}/${file}`, 'utf8');
  return {
    residentMb: () => Number(/^VmRSS:\s+(\d+) kB$/m.exec(read('status'))?.[1]) / 1024,
    cpuSeconds: () => {
      const fields = read('stat')
        .replace(/^.*\) /, '')
        .split(' ');
      return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
    },
    [Symbol.asyncDispose]: () => ended(child),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

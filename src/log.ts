// One JSON line per fact about the program itself, on standard error, written before the next line runs.
import { pino } from 'pino';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

/**
 * Levels by consequence: info = it worked; warn = no data lost, we recover; error = data lost or a person
 * is needed.
 */
export interface Log {
  trace(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * @param fd the file descriptor to write to; synchronously, because the lines before a crash matter most
 *   (measured: pino's asynchronous default lost 999 of 1,000 lines on SIGKILL)
 */
export function openLog(program: string, level: LogLevel, fd = 2): Log {
  const destination = pino.destination({ dest: fd, sync: true });
  const timestamp = pino.stdTimeFunctions.isoTime;
  // Levels by name: people read these lines too.
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: { program }, timestamp, formatters }, destination);
}

/** For programs and tests that want quiet. */
export const silentLog: Log = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

// A log that keeps its lines, for tests of what is said and how often.
import type { Log } from '../../src/log.ts';

export interface LogLine {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface RecordingLog extends Log {
  readonly lines: readonly LogLine[];
}

export function recordingLog(): RecordingLog {
  const lines: LogLine[] = [];
  const at =
    (level: LogLine['level']) =>
    (fields: object, message: string): void => {
      lines.push({ level, message, fields: fields as Readonly<Record<string, unknown>> });
    };
  return {
    lines,
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
}

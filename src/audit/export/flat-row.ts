// Makes one flat row of an entry and what it says, for spreadsheets.
import { base64 } from '../../core/base64.ts';
import { journalEntryOf } from '../../core/journal.ts';
import { readRecord, type TrailRecord } from '../../core/read-record.ts';
import { sealOf } from '../../core/seal.ts';
import { type StreamKind, streamKind } from '../../core/stream.ts';
import type { StoredEntry } from '../store.ts';

export const flatColumns = [
  ...['stream', 'index', 'sequenceNumber', 'enqueuedAt', 'bodySha256', 'content'],
  ...['id', 'source', 'type', 'time', 'agentId', 'agentSequence', 'agentVersion'],
  ...['vmName', 'vmId', 'resourceId', 'location', 'zone', 'vmScaleSet', 'faultDomain'],
  ...['eventId', 'transition', 'reason', 'inferred', 'affected', 'eventType', 'eventSource'],
  ...['notBefore', 'durationSeconds', 'description', 'vms'],
] as const;

type Cell = string | number | boolean | null;
type Row = Readonly<Partial<Record<(typeof flatColumns)[number], Cell>>>;

/** The cells of an entry's row, in the order of the columns; null where there is nothing to say. */
export function flatRow(stream: string, entry: StoredEntry): readonly Cell[] {
  const { index, sequenceNumber, bodySha256, enqueuedMs } = entry;
  const place = {
    stream,
    index,
    sequenceNumber,
    enqueuedAt: timeOf(enqueuedMs),
    bodySha256: base64(bodySha256),
  };
  const row: Row = { ...place, ...said[streamKind(stream)](entry) };
  return flatColumns.map((name) => row[name] ?? null);
}

/** A damaged store may hold a time that no calendar has. */
const timeOf = (ms: number): string => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms));

const said: Readonly<Record<StreamKind, (entry: StoredEntry) => Row>> = {
  hub: ({ body }) => {
    if (body === null) return { content: 'pruned' };
    const reading = readRecord(body);
    return reading.status === 'record'
      ? { content: 'record', ...recordRow(reading.record) }
      : { content: `parked: ${reading.reason}` };
  },
  journal: ({ body, enqueuedMs }) => {
    const fact = body === null ? null : journalEntryOf({ body, enqueuedMs });
    return { content: 'fact', type: fact?.kind ?? null, description: textOf(body) };
  },
  seal: ({ body, enqueuedMs }) => {
    const seal = body === null ? null : sealOf({ body, enqueuedMs });
    return { content: 'seal', description: seal === null ? null : `${seal.heads.length} streams` };
  },
};

const textOf = (body: Uint8Array | null): string | null =>
  body === null ? null : Buffer.from(body).toString('utf8');

function recordRow({ id, source, type, at, agent, event }: TrailRecord): Row {
  const { agentId, sequence, version, observer } = agent;
  const { vmName, vmId, resourceId, location, zone, vmScaleSet, faultDomain } = observer;
  const speaker = { agentId, agentSequence: sequence, agentVersion: version };
  const record = { id, source, type, time: timeOf(at), ...speaker };
  const machine = { vmName, vmId, resourceId, location, zone, vmScaleSet, faultDomain };
  if (event === null) return { ...record, ...machine };
  const { vms, ...facts } = event;
  return { ...record, ...machine, ...facts, vms: vms.join(' ') };
}

/**
 * A cell as RFC 4180 writes it. What a spreadsheet would take for a formula gets an apostrophe in front of it:
 * names and descriptions come from outside.
 */
function csvCell(value: Cell): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

// Which records a sink takes, and which of the VMs that see the same event speaks to it.
import { createHash } from 'node:crypto';
import type { TransitionKind } from './diff.ts';
import { canonicalName, names } from './document.ts';
import {
  type BridgeRecord,
  type EventData,
  familyOf,
  type RecordFamily,
  type Severity,
  severityNumbers,
} from './record.ts';

/** The parsed `filter` of a sink. */
export interface RecordFilter {
  readonly observer: 'all' | 'affected' | 'first' | 'sampled';
  /** For `sampled`: the share of unaffected witnesses that speak, 0 to 1. */
  readonly sample: number;
  /** Event types, any case; none given = all. */
  readonly types?: readonly string[];
  readonly transitions?: readonly TransitionKind[];
  readonly minSeverity?: Severity;
  readonly records: readonly RecordFamily[];
}

/** Whether a sink with this filter takes the record. */
export function takes(filter: RecordFilter, record: BridgeRecord): boolean {
  const family = familyOf(record.type);
  if (family === null || !filter.records.includes(family)) return false;
  if (filter.minSeverity && record.severitynumber < severityNumbers[filter.minSeverity]) return false;
  if (!aboutEvents.includes(family)) return true;
  const data = record.data as EventData;
  const type = data.event.eventType.toLowerCase();
  if (filter.types && !filter.types.some((wanted) => wanted.toLowerCase() === type)) return false;
  // What a VM did, or felt, nobody else can tell.
  if (family !== 'event') return true;
  if (filter.transitions && !filter.transitions.includes(data.transition)) return false;
  return speaks(filter, record.correlationid, data);
}

/** Those whose records are about one event. */
const aboutEvents: readonly RecordFamily[] = ['event', 'approval', 'hook', 'impact'];

function speaks(filter: RecordFilter, key: string, data: EventData): boolean {
  const { vmName, vmId } = data.observer;
  // While the VM does not know its own name, saying too much is better than losing a notice.
  if (filter.observer === 'all' || vmName === null) return true;
  const affected = names(data.event.resources, vmName);
  if (filter.observer === 'affected') return affected;
  if (filter.observer === 'first')
    return canonicalName(data.event.resources[0] ?? '') === canonicalName(vmName);
  return affected || shareOf(`${key} ${vmId ?? vmName}`) < filter.sample;
}

/** A number in [0, 1) that is the same on every machine for the same text. */
const shareOf = (text: string): number =>
  createHash('sha256').update(text, 'utf8').digest().readUInt32BE(0) / 2 ** 32;

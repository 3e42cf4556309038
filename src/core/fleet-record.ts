// Makes the records that a consumer says of the whole fleet: a fact once for all, a wave of them, and who fell silent.
import { createHash } from 'node:crypto';
import type { FleetFact, FleetVm, MissingVm, Speaker } from './fleet-fact.ts';
import { type Observer, unknownObserver } from './observer.ts';
import {
  type AgentStamp,
  type BridgeRecord,
  type EventData,
  envelope,
  type RecordFamily,
  type Severity,
  severityNumbers,
} from './record.ts';
import type { Wave } from './wave.ts';
import { severityOfWave, viewOf, type WaveState, type WaveView } from './wave-view.ts';

/** What a record about an event says when it speaks for the whole fleet. */
export interface FleetPart {
  readonly vms: readonly FleetVm[];
  /** How many had told the fact when this was said. */
  readonly observers: number;
  readonly missing: readonly MissingVm[];
  /** The `source` of the record that this one repeats: of whoever told the fact first. */
  readonly firstWitness: string;
}

/** `data` of an event record of the whole fleet: no single VM observes it, and it names VMs beyond any one observer. */
export interface FleetEventData extends EventData {
  readonly fleet: FleetPart;
}

/** `data` of a wave record. */
export interface WaveData {
  readonly wave: WaveView;
  /** The latest record about its event, while there is one alone; null afterwards. */
  readonly alone: BridgeRecord<FleetEventData> | null;
  readonly observer: Observer;
  readonly agent: AgentStamp;
}

/** What became of the voices of some VMs. `asleep`: the agent is there, and its metadata service says nothing. */
export type SilenceState = 'silent' | 'heard' | 'asleep' | 'awake';

/** One VM whose voice changed; times are RFC 3339 UTC. */
export interface SilentVm {
  readonly name: string;
  readonly vmId: string | null;
  /** Last heard, or last awake; null when never. */
  readonly since: string | null;
  /** When it should have been heard; null where nothing was expected. */
  readonly expectedBy: string | null;
}

/** VMs whose voices changed alike. */
export interface SilenceChange {
  readonly state: SilenceState;
  readonly vms: readonly SilentVm[];
}

/** `data` of a silence record. */
export interface SilenceData extends SilenceChange {
  readonly observer: Observer;
  readonly agent: AgentStamp;
}

/** A fact, once for the whole fleet, with every VM that it is about. Its id is the fact's own. */
export function fleetRecord(fact: FleetFact, speaker: Speaker): BridgeRecord<FleetEventData> {
  const { record, vms, observers, missing = [] } = fact;
  const { observer: _, agent: _agent, affected: _affected, ...said } = record.data;
  return {
    ...voice(`event.${said.transition}`, 'event', speaker),
    ...{ id: record.id, time: record.time },
    ...{ correlationid: record.correlationid, partitionkey: record.partitionkey },
    ...{ severitytext: record.severitytext, severitynumber: record.severitynumber },
    data: {
      ...{ ...said, affected: null, observer: unknownObserver, agent: speaker.agent },
      fleet: { vms, observers, missing, firstWitness: record.source },
    },
  };
}

/**
 * How a wave stands now. Records of one wave share everything before the first underscore of their ids.
 * @param at epoch ms
 */
export function waveRecord(wave: Wave, at: number, speaker: Speaker): BridgeRecord<WaveData> {
  const view = viewOf(wave, at);
  const alone = latestOf(wave, view.state);
  return {
    ...voice('fleet.wave', 'fleet', speaker),
    ...{ id: `${wave.id}_wave_${wave.version}`, time: new Date(at).toISOString() },
    ...{ correlationid: wave.id, partitionkey: wave.id },
    ...weight(severityOfWave(wave)),
    data: {
      wave: view,
      alone: alone === null ? null : fleetRecord(alone, speaker),
      ...{ observer: unknownObserver, agent: speaker.agent },
    },
  };
}

/** What was said last of an event that is alone in its wave, of the status it has; else what was said last. */
function latestOf({ latest }: Wave, state: WaveState): FleetFact | null {
  const said = Object.entries(latest).sort(
    ([a, one], [b, other]) => Number(b === state) - Number(a === state) || other.at - one.at,
  );
  return said[0]?.[1].value ?? null;
}

/**
 * That VMs fell silent, or are heard again.
 * @param at epoch ms
 */
export function silenceRecord(
  change: SilenceChange,
  at: number,
  speaker: Speaker,
): BridgeRecord<SilenceData> {
  const { state, vms } = change;
  const what = JSON.stringify([state, at, vms.map(({ name, vmId }) => [name, vmId])]);
  const key = `silence-${createHash('sha256').update(what, 'utf8').digest('hex').slice(0, 24)}`;
  return {
    ...voice('fleet.silence', 'fleet', speaker),
    ...{ id: `${key}_${state}`, time: new Date(at).toISOString() },
    ...{ correlationid: key, partitionkey: key },
    ...weight(state === 'silent' || state === 'asleep' ? 'WARN' : 'INFO'),
    data: { state, vms, observer: unknownObserver, agent: speaker.agent },
  };
}

/** The attributes of a record that no VM observed: it has no subject. */
const voice = (what: string, family: RecordFamily, { source, agent }: Speaker) => ({
  ...envelope(what, family, { observer: unknownObserver, agent }),
  source,
});

const weight = (severity: Severity) => ({
  severitytext: severity,
  severitynumber: severityNumbers[severity],
});

// Reads what a record says that an agent did about an event or measured of it: an approval, a hook, an impact.
import { eventKey } from './document.ts';
import { child, countAt, numberAt, textAt, timeAt } from './read-wire.ts';

/** What one VM's agent did about one event, or measured of it. What the record does not say is null. */
export type Deed = ApprovalDeed | HookDeed | ImpactDeed;

/** The families of records that tell a deed. */
export type DeedFamily = Deed['family'];

export interface ApprovalDeed {
  readonly family: 'approval';
  /** `approved`, `refused` or `failed`. */
  readonly decision: string;
  readonly reason: string | null;
  /** `agent` or `person`. */
  readonly actorKind: string | null;
  readonly actorName: string | null;
  /** Counted from 1 as the agent's file has them. */
  readonly rule: number | null;
  readonly elected: string | null;
  /** What IMDS answered, and after how many attempts. */
  readonly answerStatus: number | null;
  readonly attempts: number | null;
}

export interface HookDeed {
  readonly family: 'hook';
  /** `prepare` or `recover`. */
  readonly phase: string;
  readonly hook: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Epoch ms. */
  readonly startedAt: number | null;
  readonly durationMs: number | null;
}

export interface ImpactDeed {
  readonly family: 'impact';
  /** `none`, `pause`, `reboot` or `unknown`. */
  readonly kind: string;
  readonly lowerMs: number | null;
  readonly upperMs: number | null;
  /** When the VM was watched for it, epoch ms. */
  readonly from: number | null;
  readonly to: number | null;
  readonly pauses: number;
  /** `kept`, `gone` or `unknown`. */
  readonly temporaryDisk: string | null;
  readonly faultDomainBefore: string | null;
  readonly faultDomainAfter: string | null;
}

/** A deed and the event that it belongs to, in the form in which ids are compared. */
export interface DeedFacts {
  readonly eventId: string;
  readonly deed: Deed;
}

const wordLengthMax = 128;
const nameLengthMax = 1_024;

const word = (wire: unknown, name: string): string | null => textAt(wire, name, wordLengthMax);

const readers: Readonly<Record<DeedFamily, (data: unknown) => Deed | null>> = {
  approval: readApproval,
  hook: readHook,
  impact: readImpact,
};

/**
 * Reads `data` of a record about a deed.
 * @param family of the record
 * @returns null when the family tells no deeds, or when it does not say what was done about which event
 */
export function readDeed(family: string, data: unknown): DeedFacts | null {
  const read = Object.hasOwn(readers, family) ? readers[family as DeedFamily] : null;
  const eventId = textAt(child(data, 'event'), 'eventId');
  if (read === null || !eventId || eventId.length > nameLengthMax) return null;
  const deed = read(data);
  return deed === null ? null : { eventId: eventKey(eventId), deed };
}

function readApproval(data: unknown): ApprovalDeed | null {
  const decision = word(data, 'decision');
  if (!decision) return null;
  const [actor, answer] = [child(data, 'actor'), child(data, 'answer')];
  return {
    ...{ family: 'approval', decision, reason: word(data, 'reason') },
    ...{ actorKind: word(actor, 'kind'), actorName: textAt(actor, 'name', nameLengthMax) },
    ...{ rule: countAt(child(data, 'rule'), 'place'), elected: word(data, 'elected') },
    ...{ answerStatus: countAt(answer, 'status'), attempts: countAt(answer, 'attempts') },
  };
}

function readHook(data: unknown): HookDeed | null {
  const [phase, hook, outcome] = [
    word(data, 'phase'),
    textAt(data, 'hook', nameLengthMax),
    word(data, 'outcome'),
  ];
  if (!phase || !hook || !outcome) return null;
  return {
    ...{ family: 'hook', phase, hook, outcome, reason: word(data, 'reason') },
    ...{ exitCode: numberAt(data, 'exitCode'), signal: word(data, 'signal') },
    ...{ startedAt: timeAt(data, 'startedAt'), durationMs: numberAt(data, 'durationMs') },
  };
}

function readImpact(data: unknown): ImpactDeed | null {
  const kind = word(data, 'kind');
  if (!kind) return null;
  const [measured, window, moved] = [child(data, 'measured'), child(data, 'window'), child(data, 'moved')];
  const [domain, pauses] = [child(moved, 'faultDomain'), child(data, 'pauses')];
  return {
    ...{ family: 'impact', kind },
    ...{ lowerMs: numberAt(measured, 'lowerMs'), upperMs: numberAt(measured, 'upperMs') },
    ...{ from: timeAt(window, 'from'), to: timeAt(window, 'to') },
    ...{ pauses: Array.isArray(pauses) ? pauses.length : 0, temporaryDisk: word(moved, 'temporaryDisk') },
    ...{ faultDomainBefore: word(domain, 'before'), faultDomainAfter: word(domain, 'after') },
  };
}

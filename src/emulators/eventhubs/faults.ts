// Faults on request: what goes wrong, where, how often.

/** Where each fault strikes. */
export const faultPoints = {
  /** The connection dies before the events are stored. */
  'drop-before-store': 'publish',
  /** The connection dies after the events are stored, before anybody is told. */
  'drop-after-store': 'publish',
  /** The events are stored; the sender never hears of it. */
  'lost-ack': 'publish',
  /** The events are refused because of throttling. */
  'server-busy': 'publish',
  /** The events are refused as larger than the hub takes. */
  'too-large': 'publish',
  /** The events are refused with an internal error. */
  'internal-error': 'publish',
  /** The sender's link is detached; the events are not stored. */
  detach: 'publish',
  /** The events are stored and acknowledged late. */
  slow: 'publish',
  /** The connection is closed as idle; the events are not stored. */
  'idle-close': 'publish',
  /** The connection dies when events are about to be delivered. */
  'drop-on-receive': 'receive',
  /** The reader's link is detached when events are about to be delivered. */
  'detach-on-receive': 'receive',
  /** Events are delivered late. */
  'slow-receive': 'receive',
  /** A management request is never answered. */
  'management-silent': 'management',
  /** The connection dies on a management request. */
  'drop-on-management': 'management',
  /** A token is refused. */
  unauthorized: 'authorize',
  /** A connection is closed as soon as it is accepted. */
  'refuse-connection': 'connect',
} as const;

export type FaultName = keyof typeof faultPoints;
export type FaultPoint = (typeof faultPoints)[FaultName];

export interface Fault {
  readonly name: FaultName;
  /** How often it strikes; once by default. */
  readonly times?: number;
  /** Only there; everywhere by default. */
  readonly hub?: string;
  readonly partition?: string;
  /** From 0 to 1: how likely it strikes each time; 1 by default. */
  readonly probability?: number;
  /** For the slow ones; 1,000 ms by default. */
  readonly delayMs?: number;
}

export interface Faults {
  add(fault: Fault): void;
  clear(): void;
  /** Faults that are yet to strike. */
  readonly waiting: readonly Fault[];
  /** How often each fault struck. */
  readonly struck: ReadonlyMap<FaultName, number>;
}

export interface Place {
  readonly hub?: string | undefined;
  readonly partition?: string | undefined;
}

export interface FaultScript extends Faults {
  /** @returns the first waiting fault for that point and place, which thereby strikes */
  strike(point: FaultPoint, place?: Place): Fault | undefined;
}

export const FAULT_DELAY_MS = 1_000;

const isAt = (fault: Fault, point: FaultPoint, place: Place): boolean =>
  faultPoints[fault.name] === point &&
  (fault.hub === undefined || fault.hub.toLowerCase() === place.hub?.toLowerCase()) &&
  (fault.partition === undefined || fault.partition === place.partition);

/** @param random a number from 0 up to 1, for faults with a probability */
export function createFaults(random: () => number): FaultScript {
  let waiting: readonly Fault[] = [];
  const struck = new Map<FaultName, number>();
  const use = (used: Fault): void => {
    const left = (used.times ?? 1) - 1;
    struck.set(used.name, (struck.get(used.name) ?? 0) + 1);
    const replaced = waiting.map((fault) => (fault === used ? { ...used, times: left } : fault));
    waiting = replaced.filter((fault) => (fault.times ?? 1) > 0);
  };
  return {
    add: (fault) => {
      waiting = [...waiting, fault];
    },
    clear: () => {
      waiting = [];
    },
    get waiting() {
      return waiting;
    },
    struck,
    strike(point, place = {}) {
      const fault = waiting.find((each) => isAt(each, point, place) && random() < (each.probability ?? 1));
      if (fault !== undefined) use(fault);
      return fault;
    },
  };
}

// Faults on request: what goes wrong, for which requests, and for how long.

/** What can go wrong. Times are wall time: a scenario's speed does not change them. */
export type ImdsFault =
  /** The first call switches the feature on: every answer waits until `delayMs` after the first request. */
  | { readonly kind: 'warming'; readonly delayMs: number }
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** 200 without a body. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** Does what it is asked to, and never answers: the client cannot know that it was heard. */
  | { readonly kind: 'mute' }
  /** Does what it is asked to, and resets the connection instead of answering. */
  | { readonly kind: 'lost' }
  /** Resets the connection instead of answering. */
  | { readonly kind: 'reset' }
  /** A whole answer whose JSON breaks off in the middle. */
  | { readonly kind: 'truncated' }
  /** The connection ends in the middle of the body. */
  | { readonly kind: 'cut' }
  /** Counts the incarnation from 1 again, as after a day without a request. Happens at once. */
  | { readonly kind: 'incarnation-reset' };

/** Which part of IMDS a fault hits. `approval` is the POST to the events' own path. */
export const faultPaths = ['scheduledevents', 'approval', 'instance', 'token', 'all'] as const;
export type FaultPath = (typeof faultPaths)[number];

export interface FaultScope {
  /** Hits so many requests, then is over. 1 unless `forMs` is given. */
  readonly times?: number;
  /** Is over after so long, counted from its injection. */
  readonly forMs?: number;
  /** Only requests of this VM. */
  readonly vm?: string;
  /** `scheduledevents` unless given. */
  readonly path?: FaultPath;
}

/** The request that a fault may hit. */
export interface FaultTarget {
  readonly vm: string;
  readonly path: FaultPath;
}

export interface FaultQueue {
  add(fault: ImdsFault, scope: FaultScope, now: number): void;
  /** The fault that hits this request, if any: the oldest one that fits; its turn is used up. */
  take(target: FaultTarget, now: number): ImdsFault | null;
}

interface ActiveFault {
  readonly fault: ImdsFault;
  readonly scope: FaultScope;
  readonly timesLeft: number;
  readonly until: number;
}

/** Keeps the faults that are still to come, in the order in which they were asked for. */
export function createFaultQueue(): FaultQueue {
  let active: readonly ActiveFault[] = [];
  return {
    add: (fault, scope, now) => {
      const endless = scope.forMs !== undefined || fault.kind === 'warming';
      const timesLeft = scope.times ?? (endless ? Number.POSITIVE_INFINITY : 1);
      active = [
        ...active,
        { fault, scope, timesLeft, until: now + (scope.forMs ?? Number.POSITIVE_INFINITY) },
      ];
    },
    take: (target, now) => {
      active = active.filter(({ timesLeft, until }) => timesLeft > 0 && now < until);
      const hit = active.find(({ scope }) => fits(scope, target));
      if (hit === undefined) return null;
      const used = usedUp(hit, now);
      active = active.map((entry) => (entry === hit ? used : entry));
      return hit.fault.kind === 'warming' ? { kind: 'slow', delayMs: used.until - now } : hit.fault;
    },
  };
}

function fits({ vm, path = 'scheduledevents' }: FaultScope, target: FaultTarget): boolean {
  return (vm === undefined || vm === target.vm) && (path === 'all' || path === target.path);
}

function usedUp(hit: ActiveFault, now: number): ActiveFault {
  // The first request starts the clock: a client that gives up and asks again does not start it anew.
  const until = hit.fault.kind === 'warming' ? Math.min(hit.until, now + hit.fault.delayMs) : hit.until;
  return { ...hit, until, timesLeft: hit.timesLeft - 1 };
}

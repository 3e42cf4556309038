// What all VMs of the emulator share: the live document, the faults to come and the approvals made.
import { systemClock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { createFaultQueue, type FaultQueue, type FaultScope, type ImdsFault } from './fault.ts';
import {
  advance,
  emptyDocument,
  type LiveDocument,
  type LiveEvent,
  withApproval,
  withIncarnationReset,
} from './live-document.ts';
import { wireDocument } from './wire-document.ts';

/** One approval of one event. */
export interface RecordedApproval {
  readonly eventId: string;
  /** The VM that approved. */
  readonly vm: string;
  /** Epoch ms. */
  readonly at: number;
  /** False when no such event stood in the document. */
  readonly accepted: boolean;
}

export interface Stage extends Board {
  readonly faults: FaultQueue;
  /** Scenario time runs so many times faster than the wall clock. */
  readonly speed: number;
  /** The latest 10,000, oldest first. */
  readonly approvals: readonly RecordedApproval[];
  now(): number;
  inject(fault: ImdsFault, scope: FaultScope): void;
  /** @returns whether every id stood in the document */
  approve(eventIds: readonly string[], vm: string): boolean;
}

export function createStage(speed: number, log: Log): Stage {
  const board = createBoard(log);
  const faults = createFaultQueue();
  const approvals = createApprovals(log);
  return Object.assign(board, {
    faults,
    speed,
    approvals: approvals.list,
    now,
    inject: (fault: ImdsFault, scope: FaultScope) => {
      log.info({ fault, scope }, 'fault');
      if (fault.kind === 'incarnation-reset') board.update(withIncarnationReset);
      else faults.add(fault, scope, now());
    },
    approve: (eventIds: readonly string[], vm: string) =>
      eventIds.map((eventId) => approvals.add(eventId, vm, board.accept(eventId))).every(Boolean),
  });
}

/** What stands on the wire: the live document, or a body that is shown instead. */
interface Board {
  readonly document: LiveDocument;
  /** Replaces the document; a change wakes who waits, and ends what was shown instead. */
  update(change: (document: LiveDocument, now: number) => LiveDocument): void;
  /** Waits until `at`, epoch ms, or until the document changed, or until `signal` aborts. */
  until(at: number, signal: AbortSignal): Promise<void>;
  /** The body on the wire now. */
  body(apiVersion: string): string;
  /** Puts a body on the wire as it is, until the document changes. */
  show(body: string): void;
  /** Lets an event start early. @returns false when it is not on the wire */
  accept(eventId: string): boolean;
}

const now = (): number => systemClock.now();

function createBoard(log: Log): Board {
  let document = emptyDocument;
  let changed = new AbortController();
  let shown: string | null = null;
  const update: Board['update'] = (change) => {
    const before = document;
    document = change(before, now());
    if (document.incarnation === before.incarnation) return;
    shown = null;
    const { incarnation, events } = document;
    log.info({ incarnation, events: events.map(summaryOf) }, 'document changed');
    changed.abort();
    changed = new AbortController();
  };
  return {
    get document() {
      return document;
    },
    update,
    until: (at, signal) => systemClock.sleep(at - now(), AbortSignal.any([signal, changed.signal])),
    body: (apiVersion) => {
      update(advance);
      return shown ?? wireDocument(document.incarnation, document.events, apiVersion);
    },
    show: (body) => {
      shown = body;
      log.info({ bytes: Buffer.byteLength(body) }, 'document shown');
    },
    accept: (eventId) => {
      update(advance);
      if (shown !== null) return stands(eventId, shown);
      const approved = withApproval(document, eventId, now());
      if (approved !== null) update(() => approved);
      return approved !== null;
    },
  };
}

const approvalsMax = 10_000;

function createApprovals(log: Log) {
  const list: RecordedApproval[] = [];
  const add = (eventId: string, vm: string, accepted: boolean): boolean => {
    list.push({ eventId, vm, at: now(), accepted });
    if (list.length > approvalsMax) list.shift();
    log.info({ eventId, vm, accepted }, 'approval');
    return accepted;
  };
  return { list, add };
}

function summaryOf({ eventId, eventType, eventStatus, resources, notBeforeAt }: LiveEvent): object {
  const notBefore = notBeforeAt === null ? null : new Date(notBeforeAt).toISOString();
  return { eventId, eventType, eventStatus, notBefore, resources };
}

/** A shown body may be no document at all: an id counts when its text holds it. */
const stands = (eventId: string, body: string): boolean => body.toLowerCase().includes(eventId.toLowerCase());

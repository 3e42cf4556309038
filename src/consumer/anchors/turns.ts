// Gives each operation of an anchor its limit in time, and never begins one while another hangs.
import { openDeadline } from '../../sinks/deadline.ts';
import { type Anchor, type AnchorFailure, type AnchorPut, type AnchorRead, failedAnchor } from './anchor.ts';

export interface AnchorTurns {
  put(origin: string, note: string, signal: AbortSignal): Promise<AnchorPut>;
  /** Null for a place that cannot be read again. @param msMax less than usual, for whoever waits */
  readonly newest: ((origin: string, signal: AbortSignal, msMax?: number) => Promise<AnchorRead>) | null;
}

// A webhook is tried three times within it, a blob asked three times.
const operationMsMax = 40_000;

/** A file of a share whose server is gone hangs without end, and takes a thread each time that it is tried. */
export function openAnchorTurns(anchor: Anchor): AnchorTurns {
  let inHand: Promise<unknown> | null = null;
  const limited = async <Result>(
    work: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
    msMax = operationMsMax,
  ): Promise<Result | AnchorFailure> => {
    using deadline = openDeadline(msMax, signal);
    const late = deadline.reached.then(() => failedAnchor(signal.aborted ? 'aborted' : 'timeout'));
    if (inHand !== null) await Promise.race([inHand, late]);
    if (inHand !== null || deadline.signal.aborted) return await late;
    const done = work(deadline.signal)
      // An anchor that throws has a bug, and its text may hold anything.
      .catch(() => failedAnchor('unexpected'))
      .finally(() => {
        inHand = null;
      });
    inHand = done;
    return await Promise.race([done, late]);
  };
  const { newest } = anchor;
  return {
    put: (origin, note, signal) => limited((stop) => anchor.put(origin, note, stop), signal),
    newest: newest && ((origin, signal, msMax) => limited((stop) => newest(origin, stop), signal, msMax)),
  };
}

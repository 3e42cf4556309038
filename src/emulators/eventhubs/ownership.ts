// Who may read a partition in a consumer group: epochs, and the limit for readers without one.
import type { AmqpError } from './amqp.ts';
import * as errors from './errors.ts';

/** The service's limit of readers without epoch per partition and consumer group. */
const NO_EPOCH_READERS_MAX = 5;

export interface Reader {
  /** The owner level; undefined for a reader that shares. */
  readonly epoch: number | undefined;
  /** Takes the partition away from this reader. */
  evict(error: AmqpError): void;
}

export interface Readers {
  /** Lets a reader in, evicting whom it outranks. @returns why it may not, or undefined */
  admit(reader: Reader): AmqpError | undefined;
  leave(reader: Reader): void;
  readonly count: number;
}

function refusal(present: ReadonlySet<Reader>, epoch: number | undefined): AmqpError | undefined {
  const epochs = [...present].map((reader) => reader.epoch).filter((other) => other !== undefined);
  const highest = epochs.length === 0 ? undefined : Math.max(...epochs);
  if (highest !== undefined && (epoch === undefined || epoch < highest)) return errors.epochHeld(highest);
  if (epoch === undefined && present.size >= NO_EPOCH_READERS_MAX)
    return errors.tooManyReaders(NO_EPOCH_READERS_MAX);
  return undefined;
}

/** The readers of one partition in one consumer group. */
export function createReaders(): Readers {
  const present = new Set<Reader>();
  return {
    admit(reader) {
      const refused = refusal(present, reader.epoch);
      if (refused !== undefined) return refused;
      if (reader.epoch !== undefined) {
        for (const other of present) other.evict(errors.stolen(reader.epoch));
        present.clear();
      }
      present.add(reader);
      return undefined;
    },
    leave: (reader) => void present.delete(reader),
    get count() {
      return present.size;
    },
  };
}

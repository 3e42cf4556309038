// The errors that Event Hubs answers with: its conditions, which clients act on, and our words.
import type { AmqpError } from './amqp.ts';

// The conditions are those that clients were seen to get from the service: epochs azure-event-hubs-go #181,
// positions azure-event-hubs-spark #315, idle links azure-event-hubs-python #88, idle connections
// azure-event-hubs-node #96, sizes azure-sdk-for-js #5286.

/** Clients look for "could not be found" to tell a missing entity from a missing address. */
export const notFound = (what: string): AmqpError => ({
  condition: 'amqp:not-found',
  description: `The messaging entity '${what}' could not be found.`,
});

export const unauthorized = (reason: string): AmqpError => ({
  condition: 'amqp:unauthorized-access',
  description: `Unauthorized access: ${reason}.`,
});

export const partitionOutOfRange = (partition: string, count: number): AmqpError => ({
  condition: 'com.microsoft:argument-out-of-range',
  description: `There is no partition '${partition}': they are numbered 0 to ${count - 1}.`,
});

export const badFilter = (text: string): AmqpError => ({
  condition: 'com.microsoft:argument-error',
  description: `The start position "${text}" is not understood.`,
});

export const positionBeyondEnd = (what: string, value: number, last: number): AmqpError => ({
  condition: 'com.microsoft:argument-error',
  description: `The supplied ${what} '${value}' is invalid: the last one in the partition is '${last}'.`,
});

export const stolen = (epoch: number): AmqpError => ({
  condition: 'amqp:link:stolen',
  description: `A reader with epoch '${epoch}' took the partition over.`,
});

export const epochHeld = (epoch: number): AmqpError => ({
  condition: 'amqp:link:stolen',
  description: `A reader with epoch '${epoch}' holds the partition: readers with a lower epoch or none are refused.`,
});

export const tooManyReaders = (countMax: number): AmqpError => ({
  condition: 'amqp:resource-limit-exceeded',
  description: `At most ${countMax} readers without epoch per partition and consumer group.`,
});

export const tooLarge = (bytes: number, bytesMax: number): AmqpError => ({
  condition: 'amqp:link:message-size-exceeded',
  description: `The message of ${bytes} bytes is larger than the limit of ${bytesMax} bytes.`,
});

export const malformed: AmqpError = {
  condition: 'amqp:decode-error',
  description: 'The message could not be decoded.',
};

export const serverBusy: AmqpError = {
  condition: 'com.microsoft:server-busy',
  description: 'The request was throttled. Wait a few seconds and try again. (50002)',
};

export const internalError = (reason: string): AmqpError => ({
  condition: 'amqp:internal-error',
  description: `The emulator could not serve the request: ${reason}.`,
});

export const detachForced: AmqpError = {
  condition: 'amqp:link:detach-forced',
  description: 'The link was detached by force.',
};

export const linkIdle = (idleMs: number): AmqpError => ({
  condition: 'amqp:link:detach-forced',
  description: `The link was idle for ${idleMs}ms and is detached by force.`,
});

export const connectionIdle = (idleMs: number): AmqpError => ({
  condition: 'amqp:connection:forced',
  description: `The connection was inactive for more than the allowed ${idleMs} milliseconds.`,
});

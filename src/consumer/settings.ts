// The settings of the consumer, with those of the sinks that it uses.
import * as z from 'zod';
import { consumerSchema, consumerSchemaWith } from '../config/consumer.ts';
import { notifySchema } from '../config/consumer-notify.ts';
import { readConfiguration, validateConfiguration } from '../config/load.ts';
import type { RecordFilter } from '../core/filter.ts';
import { loadSinkKinds, type SinkSettings, typesIn } from '../sinks/index.ts';

type NotifySchema = ReturnType<typeof notifySchema<z.ZodType<SinkSettings>>>;
type ConsumerSchema = ReturnType<typeof consumerSchemaWith<NotifySchema>>;

/** What a valid `consumer.yaml` says; durations in ms, sizes in bytes. */
export type ConsumerSettings = z.output<ConsumerSchema>;

/** What it says of notices. */
export type NotifySettings = NonNullable<ConsumerSettings['notify']>;

/** The schema for whoever sends no notices: it knows no sinks, so that none has to be loaded. */
export const consumerSettings = consumerSchema;

/**
 * The schema of `consumer.yaml`.
 * @param content what the file says, for a schema that knows no more kinds of sinks than it names; every kind when
 * not given
 */
export async function consumerSettingsFor(content?: unknown): Promise<ConsumerSchema> {
  const notify = childOf(content, 'notify');
  // A consumer that sends no notices does not pay for sinks.
  const isSilent = content !== undefined && notify === undefined;
  const sink = isSilent ? noSink : (await loadSinkKinds(typesIn(notify), fleetFilter)).settings;
  return consumerSchemaWith(notifySchema(sink));
}

const noSink: z.ZodType<SinkSettings> = z.never();

/**
 * Reads and validates `consumer.yaml`.
 * @throws ConfigurationError
 */
export async function readConsumerSettings(path: string): Promise<ConsumerSettings> {
  const content = readConfiguration(path);
  return validateConfiguration(content, path, await consumerSettingsFor(content));
}

/** The fleet speaks with one voice, so there is no observer to choose; and what it says of itself is for people, too. */
const fleetFilter = (filter: RecordFilter): RecordFilter => ({
  ...filter,
  observer: 'all',
  records: filter.records.includes('agent') ? filter.records : ['event', 'fleet'],
});

const childOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

// Makes of the registry what the programs need: the schema of a sink's settings, and how to open one.
import * as z from 'zod';
import type { DeliveryPolicy } from '../core/delivery.ts';
import type { RecordFilter } from '../core/filter.ts';
import { filterSettings } from './filter-settings.ts';
import * as types from './registry.ts';
import type { Sink, SinkContext, SinkType } from './sink.ts';

type SettingsOf<Definition> =
  Definition extends SinkType<infer Type, infer Settings>
    ? z.output<Settings> & { readonly type: Type; readonly filter: RecordFilter }
    : never;

/** The parsed settings of one sink, told apart by `type`. */
export type SinkSettings = SettingsOf<(typeof types)[keyof typeof types]>;

/** A sink ready for deliveries, with what its deliveries are judged by. */
export interface OpenSink {
  readonly name: string;
  readonly type: string;
  readonly filter: RecordFilter;
  readonly policy: DeliveryPolicy;
  readonly sink: Sink;
}

/** Every kind of sink, by its `type`, in alphabetical order. */
export const sinkTypes: ReadonlyMap<string, SinkType> = new Map(
  Object.values<SinkType>(types).map((definition) => [definition.type, definition]),
);

const settingsOf = (definition: SinkType) =>
  definition.settings
    .safeExtend({
      type: z.literal(definition.type).describe(definition.summary),
      filter: filterSettings(definition.filter),
    })
    .meta({ title: definition.type });

type Member = ReturnType<typeof settingsOf>;

/** The schema of one sink in a configuration file. */
export const sinkSettings = z.discriminatedUnion(
  'type',
  [...sinkTypes.values()].map(settingsOf) as [Member, ...Member[]],
  { error: (issue) => (issue.code === 'invalid_union' ? unknownType() : undefined) },
  // The members are listed at run time, so the compiler has to be told what they are.
) as unknown as z.ZodType<SinkSettings>;

const unknownType = () => `Expected a type of sink that there is: ${[...sinkTypes.keys()].join(', ')}`;

/**
 * Opens a sink; does no I/O.
 * @param name the sink's name in the configuration file
 * @param settings as `sinkSettings` parsed them
 */
export function openSink(name: string, settings: SinkSettings, context: SinkContext): OpenSink {
  const definition = sinkTypes.get(settings.type);
  if (definition === undefined) throw new Error(unknownType());
  const { type, policy } = definition;
  return { name, type, policy, filter: settings.filter, sink: definition.open(settings, context) };
}

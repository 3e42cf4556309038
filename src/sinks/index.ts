// Makes of the registry what the programs need: the schema of a sink's settings, and how to open one.
import * as z from 'zod';
import { nearest } from '../config/nearest.ts';
import type { DeliveryPolicy } from '../core/delivery.ts';
import type { RecordFilter } from '../core/filter.ts';
import { filterSettings } from './filter-settings.ts';
import * as registry from './registry.ts';
import type { Sink, SinkContext, SinkType } from './sink.ts';

type SettingsOf<Definition> =
  Definition extends SinkType<infer Type, infer Settings>
    ? z.output<Settings> & { readonly type: Type; readonly filter: RecordFilter }
    : never;

type Loaders = typeof registry;

/** The parsed settings of one sink, told apart by `type`. */
export type SinkSettings = SettingsOf<Awaited<ReturnType<Loaders[keyof Loaders]>>>;

/** A sink ready for deliveries, with what its deliveries are judged by. */
export interface OpenSink {
  readonly name: string;
  readonly type: string;
  readonly filter: RecordFilter;
  readonly policy: DeliveryPolicy;
  readonly sink: Sink;
}

/** Some kinds of sinks, loaded. */
export interface SinkKinds {
  /** By `type`, in alphabetical order. */
  readonly types: ReadonlyMap<string, SinkType>;
  /** The schema of one sink of these kinds in a configuration file. */
  readonly settings: z.ZodType<SinkSettings>;
  /**
   * Opens a sink; does no I/O.
   * @param name the sink's name in the configuration file
   * @param settings as `settings` parsed them
   */
  open(name: string, settings: SinkSettings, context: SinkContext): OpenSink;
}

const loaders: Readonly<Record<string, () => Promise<SinkType>>> = registry;

/**
 * Loads kinds of sinks: an agent pays only for those that it uses, because the schema and the code of each cost it
 * memory and its first poll time.
 * @param wanted their types; those that do not exist are passed over, and when none is left all there are come
 * @param filterFor what a sink takes unless told otherwise, where that is not what its kind takes from an agent
 */
export async function loadSinkKinds(
  wanted: readonly string[] = [],
  filterFor: FilterFor = (filter) => filter,
): Promise<SinkKinds> {
  const known = Object.entries(loaders).filter(([type]) => wanted.includes(type));
  const chosen = known.length === 0 ? Object.entries(loaders) : known;
  const types = new Map(await Promise.all(chosen.map(async ([type, load]) => [type, await load()] as const)));
  return {
    types,
    settings: settingsOf([...types.values()], filterFor),
    open: (name, settings, context) => {
      const definition = types.get(settings.type);
      if (definition === undefined) throw new Error(`sinks of type ${settings.type} were not loaded`);
      const { type, policy } = definition;
      return { name, type, policy, filter: settings.filter, sink: definition.open(settings, context) };
    },
  };
}

/** The types of sinks that unjudged content names. @param content what has `sinks` in it, if anything */
export function typesIn(content: unknown): string[] {
  const sinks = childOf(content, 'sinks');
  const values = typeof sinks === 'object' && sinks !== null ? Object.values(sinks) : [];
  return values.map((sink) => childOf(sink, 'type')).filter((type) => typeof type === 'string');
}

const childOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

type FilterFor = (filter: RecordFilter) => RecordFilter;

const memberOf = (definition: SinkType, filterFor: FilterFor) =>
  definition.settings
    .safeExtend({
      type: z.literal(definition.type).describe(definition.summary),
      filter: filterSettings(filterFor(definition.filter)),
    })
    .meta({ title: definition.type });

type Member = ReturnType<typeof memberOf>;

const settingsOf = (definitions: readonly SinkType[], filterFor: FilterFor) => {
  const members = definitions.map((definition) => memberOf(definition, filterFor));
  return z.discriminatedUnion('type', members as [Member, ...Member[]], {
    error: (issue) => (issue.code === 'invalid_union' ? unknownType(issue.input) : undefined),
    // The members are listed at run time, so the compiler has to be told what they are.
  }) as unknown as z.ZodType<SinkSettings>;
};

function unknownType(given: unknown): string {
  const types = Object.keys(loaders);
  const meant = nearest(String((given as { readonly type?: unknown } | null)?.type ?? ''), types);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  return `Expected a type of sink that there is: ${types.join(', ')}${hint}`;
}

// The settings of the agent, with those of the sinks that it uses.
import type * as z from 'zod';
import { agentSchema } from '../config/agent.ts';
import { readConfiguration, validateConfiguration } from '../config/load.ts';
import { loadSinkKinds, type SinkSettings, typesIn } from '../sinks/index.ts';

type AgentSchema = ReturnType<typeof agentSchema<z.ZodType<SinkSettings>>>;

/** What a valid `agent.yaml` says; durations in ms, sizes in bytes. */
export type AgentSettings = z.output<AgentSchema>;

/**
 * The schema of `agent.yaml`.
 * @param content what the file says, for a schema that knows no more kinds of sinks than it names; every kind when
 * not given
 */
export async function agentSettingsFor(content?: unknown): Promise<AgentSchema> {
  return agentSchema((await loadSinkKinds(typesIn(content))).settings);
}

/**
 * Reads and validates `agent.yaml`.
 * @throws ConfigurationError
 */
export async function readAgentSettings(path: string): Promise<AgentSettings> {
  const content = readConfiguration(path);
  return validateConfiguration(content, path, await agentSettingsFor(content));
}

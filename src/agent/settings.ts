// The settings of the agent, with those of every sink it knows.
import type * as z from 'zod';
import { agentSchema } from '../config/agent.ts';
import { sinkSettings } from '../sinks/index.ts';

/** The schema of `agent.yaml`. */
export const agentSettings = agentSchema(sinkSettings);

/** What a valid `agent.yaml` says; durations in ms, sizes in bytes. */
export type AgentSettings = z.output<typeof agentSettings>;

// Every kind of sink and the schemas that know them all, loaded once for tests.
import { agentSettingsFor } from '../../src/agent/settings.ts';
import { loadSinkKinds } from '../../src/sinks/index.ts';

export const { types: sinkTypes, settings: sinkSettings, open: openSink } = await loadSinkKinds();
export const agentSettings = await agentSettingsFor();

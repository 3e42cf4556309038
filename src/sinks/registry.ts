// Every kind of sink there is: one line each, loaded when a configuration names it; nothing else names them.
export const eventgrid = async () => (await import('./eventgrid.ts')).eventgrid;
export const eventhubs = async () => (await import('./eventhubs.ts')).eventhubs;
export const file = async () => (await import('./file.ts')).file;
export const logicapps = async () => (await import('./logicapps.ts')).logicapps;
export const slack = async () => (await import('./slack.ts')).slack;
export const stdout = async () => (await import('./stdout.ts')).stdout;
export const teams = async () => (await import('./teams.ts')).teams;
export const webhook = async () => (await import('./webhook.ts')).webhook;

// Every kind of sink there is: one line each, and nothing else names them.
export { eventgrid } from './eventgrid.ts';
export { eventhubs } from './eventhubs.ts';
export { file } from './file.ts';
export { logicapps } from './logicapps.ts';
export { slack } from './slack.ts';
export { stdout } from './stdout.ts';
export { teams } from './teams.ts';
export { webhook } from './webhook.ts';

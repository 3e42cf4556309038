// Follows docs/guides/proxy-and-private-endpoints.md on a stage with a proxy and a hub on it, and prints what came of it.
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { openProxy } from '../support/proxy.ts';
import { blocksRunBy } from './pages.ts';
import { openStage } from './stage.ts';

const page = 'docs/guides/proxy-and-private-endpoints.md';
const namespace = 'example.servicebus.windows.net';
const slackUrl = 'https://hooks.slack.com/services/T00000000/B00000000/0123456789';
const stage = await openStage(process.argv[2] ?? '', ['hooks.slack.com', namespace]);
const hub = await startEventHubsEmulator({
  tls: stage.certificate,
  websockets: true,
  acceptAnyJwt: true,
});
const proxy = await openProxy({ login: 'user:marker-password', leads: { [namespace]: hub.port } });
const blocks = blocksRunBy(page, 'test/guides/proxy.test.ts');
const [write = '', tryIt = ''] = blocks;

const written = await stage.run(write, `http://user:marker-password@127.0.0.1:${proxy.port}\n`);
await stage.run('cat > /etc/scheduled-events-bridge/credentials/slack.url', slackUrl);
const tried = await stage.run(tryIt);
const ways = proxy.requests.map(({ authority }) => authority);
console.log(JSON.stringify({ count: blocks.length, written, tried, ways, sent: stage.requests }));
process.exit();

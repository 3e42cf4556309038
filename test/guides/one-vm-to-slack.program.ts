// Follows docs/guides/one-vm-to-slack.md on a stage, and prints what came of it.
import { statSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { blocksRunBy } from './pages.ts';
import { openStage } from './stage.ts';

const page = 'docs/guides/one-vm-to-slack.md';
const url = 'https://hooks.slack.com/services/T00000000/B00000000/marker0123456789';
const stage = await openStage(process.argv[2] ?? '', ['hooks.slack.com']);
const blocks = blocksRunBy(page, 'test/guides/one-vm-to-slack.test.ts');
const [saveUrl = '', writeFile = '', tryIt = '', look = '', rehearse = ''] = blocks;

const saved = await stage.run(saveUrl, `${url}\n`);
const mode = statSync('/etc/scheduled-events-bridge/credentials/slack.url').mode & 0o777;
const written = await stage.run(writeFile);
const tried = await stage.run(tryIt);
stage.startService('agent', '-c', '/etc/scheduled-events-bridge/agent.yaml');
// The page is looked at by a person, who comes later than the first poll.
for (let waits = 0; waits < 100; waits += 1) {
  const answer = await fetch('http://127.0.0.1:9464/readyz').catch(() => undefined);
  if (answer?.ok) break;
  await after(100);
}
const looked = await stage.run(look);
const before = stage.requests.length;
const rehearsed = await stage.run(rehearse);
const results = { saved, written, tried, looked, rehearsed };
const sent = { test: stage.requests.slice(0, before), rehearsal: stage.requests.slice(before) };
console.log(JSON.stringify({ count: blocks.length, mode, results, sent }));
process.exit();

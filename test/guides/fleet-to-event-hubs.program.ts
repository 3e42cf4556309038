// Follows the rehearsal of docs/guides/fleet-to-event-hubs.md on a stage, and prints what came of it.
import { blocksRunBy } from './pages.ts';
import { openStage } from './stage.ts';

const stage = await openStage(process.argv[2] ?? '', []);
const blocks = blocksRunBy('docs/guides/fleet-to-event-hubs.md', 'test/guides/fleet-to-event-hubs.test.ts');
const [rehearse = '', ask = ''] = blocks;
const rehearsed = await stage.run(rehearse);
const asked = await stage.run(`cd rehearsal\n${ask}`);
console.log(JSON.stringify({ count: blocks.length, rehearsed, asked }));
process.exit();

// Follows docs/guides/prove-the-trail.md and the commands of docs/audit.md on a stage, and prints what came of it.
import { projectRoot } from '../support/source-files.ts';
import { blocksRunBy } from './pages.ts';
import { openStage } from './stage.ts';

const test = 'test/guides/prove-the-trail.test.ts';
const stage = await openStage(process.argv[2] ?? '', []);
const [begin = '', ...rest] = blocksRunBy('docs/guides/prove-the-trail.md', test);
const [makeKey = '', proveOne = ''] = blocksRunBy('docs/audit.md', test);
// One shell for the whole page, as the reader has: the jobs of its beginning end with its last block.
const parts = [begin, ...rest].map((text, index) => `echo "BLOCK ${index}"\n${text}`);
const followed = await stage.run(`CHECKOUT=${projectRoot}\n${parts.join('\n')}`);
const id = /"id":"([^"]+)"/.exec((await stage.run('cat proof/record.json')).output)?.[1] ?? '';
const key = await stage.run(`mkdir other && cd other\n${makeKey}\nls`);
const lines = proveOne.replaceAll(/\bID\b/g, id).replaceAll('record.', 'again.');
const proven = await stage.run(`cd proof\n${lines}`);
console.log(JSON.stringify({ count: parts.length, followed, key, proven }));
process.exit();

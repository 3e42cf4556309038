// Commits announcements to the outbox in a directory until it is killed, and prints each number once it is on disk.
import { writeSync } from 'node:fs';
import { announce, attempt, openOutbox } from './outboxes.ts';

const [directory = ''] = process.argv.slice(2);
const { outbox, clock } = openOutbox(directory, ['a', 'b']);
for (;;) {
  const [record] = announce(outbox);
  const settled = attempt(outbox, 'a', { status: 'delivered' }, clock.now());
  writeSync(1, `${Number(record?.sequence)} ${settled}\n`);
}

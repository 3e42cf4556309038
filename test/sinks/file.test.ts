// The file sink: rotation, torn lines, full disks and paths that cannot be written to.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { outgoing, sampleRecord } from '../support/records.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { keepsTheSinkContract, openFromSettings, patience, type SinkSubject } from './sink-contract.ts';

keepsTheSinkContract('file', async () => fileSubject());

function fileSubject(): SinkSubject {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'log', 'events.jsonl');
  return {
    open: () => openFromSettings({ type: 'file', path }).sink,
    touched: async () => existsSync(dirname(path)),
    received: async () => linesOf(path).map((line) => Buffer.from(line)),
    break: async () => {
      directory[Symbol.dispose]();
      writeFileSync(directory.path, 'a file where a directory should be');
    },
    [Symbol.asyncDispose]: async () => directory[Symbol.dispose](),
  };
}

const delivered = { status: 'delivered' };

/** The lines of a file, each of which has to be whole; none when the file is not there. */
function linesOf(path: string): string[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  expect(text === '' || text.endsWith('\n')).toBe(true);
  return text.split('\n').slice(0, -1);
}

/** A file sink in a directory of its own. */
function openFileSink(name = 'events.jsonl') {
  const directory = temporaryDirectory();
  const path = join(directory.path, name);
  const { sink } = openFromSettings({ type: 'file', path });
  return {
    path,
    sink,
    send: async () => {
      const record = outgoing(sampleRecord());
      return { outcome: await sink.send(record, patience()), line: record.bytes.toString() };
    },
    [Symbol.asyncDispose]: async () => {
      await sink[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

describe('the file', () => {
  it('is not for everybody to read', async () => {
    await using file = openFileSink();
    await file.send();
    expect(statSync(file.path).mode & 0o007).toBe(0);
  });

  it('belongs to whom its directory belongs to, also when root makes it by hand', async () => {
    using directory = temporaryDirectory();
    const isRoot = process.getuid?.() === 0;
    const owner = isRoot ? 65_534 : Number(process.getuid?.());
    if (isRoot) chownSync(directory.path, owner, owner);
    const path = join(directory.path, 'events.jsonl');
    await using sink = openFromSettings({ type: 'file', path }).sink;
    expect(await sink.send(outgoing(sampleRecord()), patience())).toEqual(delivered);
    expect(statSync(path).uid).toBe(owner);
  });

  it('gives nobody a file that a link leads to', async () => {
    using directory = temporaryDirectory();
    const [place, elsewhere] = [join(directory.path, 'log'), join(directory.path, 'elsewhere')];
    mkdirSync(place);
    if (process.getuid?.() === 0) chownSync(place, 65_534, 65_534);
    symlinkSync(elsewhere, join(place, 'events.jsonl'));
    await using sink = openFromSettings({ type: 'file', path: join(place, 'events.jsonl') }).sink;
    expect(await sink.send(outgoing(sampleRecord()), patience())).toEqual(delivered);
    expect(statSync(elsewhere).uid).toBe(process.getuid?.());
  });

  it('is made with the directories that lead to it', async () => {
    await using file = openFileSink('a/b/events.jsonl');
    expect((await file.send()).outcome).toEqual(delivered);
  });

  it('keeps the lines that were there', async () => {
    await using file = openFileSink();
    writeFileSync(file.path, '{"id":"old"}\n');
    const { line } = await file.send();
    expect(linesOf(file.path)).toEqual(['{"id":"old"}', line]);
  });

  it('gets a new line after half a line that a crash left', async () => {
    await using file = openFileSink();
    writeFileSync(file.path, '{"id":"whole"}\n{"id":"ha');
    const { line } = await file.send();
    expect(linesOf(file.path)).toEqual(['{"id":"whole"}', '{"id":"ha', line]);
  });

  it('gets a new line after half a line that somebody else left while it was open', async () => {
    await using file = openFileSink();
    const first = await file.send();
    appendFileSync(file.path, 'half');
    const second = await file.send();
    expect(linesOf(file.path)).toEqual([first.line, 'half', second.line]);
  });
});

describe('a check', () => {
  it('makes neither the file nor the directories that lead to it', async () => {
    await using file = openFileSink('a/b/events.jsonl');
    expect(await file.sink.check(patience())).toMatchObject({ ok: true });
    expect(existsSync(dirname(dirname(file.path)))).toBe(false);
  });

  it.each(['/dev', '/dev/null/events.jsonl', '/dev/null/a/events.jsonl'])(
    'finds out that %s cannot be appended to',
    async (path) => {
      await using sink = openFromSettings({ type: 'file', path }).sink;
      expect(await sink.check(patience())).toEqual({
        ok: false,
        detail: `${path}: file-unwritable`,
        reason: 'file-unwritable',
      });
    },
  );
});

describe('rotation', () => {
  it('is noticed when the file is renamed', async () => {
    await using file = openFileSink();
    const first = await file.send();
    renameSync(file.path, `${file.path}.1`);
    const second = await file.send();
    expect([linesOf(`${file.path}.1`), linesOf(file.path)]).toEqual([[first.line], [second.line]]);
  });

  it('is noticed when the file is renamed and a new one stands in its place', async () => {
    await using file = openFileSink();
    await file.send();
    renameSync(file.path, `${file.path}.1`);
    writeFileSync(file.path, '');
    const second = await file.send();
    expect(linesOf(file.path)).toEqual([second.line]);
  });

  it('is noticed when the file is removed with its directory', async () => {
    await using file = openFileSink('log/events.jsonl');
    await file.send();
    unlinkSync(file.path);
    renameSync(dirname(file.path), `${dirname(file.path)}.old`);
    const second = await file.send();
    expect([second.outcome, linesOf(file.path)]).toEqual([delivered, [second.line]]);
  });

  it('may cut the file short in place', async () => {
    await using file = openFileSink();
    await file.send();
    truncateSync(file.path);
    const second = await file.send();
    expect(linesOf(file.path)).toEqual([second.line]);
  });

  it('frees the room of a removed file on reopen, and goes on in a new one', async () => {
    await using file = openFileSink();
    await file.send();
    unlinkSync(file.path);
    expect(isHeld(file.path)).toBe(true);
    file.sink.reopen?.();
    await until('the removed file is let go of', () => !isHeld(file.path));
    const second = await file.send();
    expect(linesOf(file.path)).toEqual([second.line]);
  });
});

/** Whether this process has a removed file open. */
const isHeld = (path: string): boolean =>
  readdirSync('/proc/self/fd').some((fd) => linkOf(`/proc/self/fd/${fd}`) === `${path} (deleted)`);

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

describe('a disk without room', () => {
  it('is worth another try', async () => {
    const { sink } = openFromSettings({ type: 'file', path: '/dev/full' });
    await using _ = sink;
    const outcome = await sink.send(outgoing(sampleRecord()), patience());
    expect(outcome).toEqual({ status: 'retryable', reason: 'disk-full' });
  });

  it('keeps no part of a line that did not fit, and takes the next one that does', async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'events.jsonl');
    expect(await outcomesUnderLimit(path)).toEqual(['delivered', 'retryable disk-full', 'delivered']);
    expect(linesOf(path).map((line) => JSON.parse(line).data.event.description.length)).toEqual([10, 20]);
  });
});

/**
 * What comes of a short, a very long and a short record where no file may grow beyond 64 or 128 KiB (shells
 * differ in what `ulimit -f` counts): the system then writes a part of the line and refuses the rest.
 */
async function outcomesUnderLimit(path: string): Promise<string[]> {
  const program = fileURLToPath(new URL('file-program.ts', import.meta.url));
  const script = `trap '' XFSZ; ulimit -f 128; exec "$0" "$@"`;
  const child = spawn('sh', ['-c', script, process.execPath, program, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = await text(child.stdout);
  await once(child, 'close');
  return output.trim().split('\n');
}

describe('a path that cannot be written to', () => {
  const unwritable = { status: 'unavailable', reason: 'file-unwritable' };

  it('suspends the sink when it is a directory', async () => {
    await using file = openFileSink();
    mkdirSync(file.path);
    expect((await file.send()).outcome).toEqual(unwritable);
  });

  it('suspends the sink when it leads through a file', async () => {
    await using file = openFileSink('log/events.jsonl');
    writeFileSync(dirname(file.path), '');
    expect((await file.send()).outcome).toEqual(unwritable);
  });

  it('suspends the sink when it is a pipe, which would hold the program up', async () => {
    await using file = openFileSink();
    execFileSync('mkfifo', [file.path]);
    const bulky = outgoing(sampleRecord({ description: 'x'.repeat(200_000) }));
    expect(await file.sink.send(bulky, patience())).toEqual(unwritable);
  });

  it('is taken again as soon as it is a file', async () => {
    await using file = openFileSink();
    mkdirSync(file.path);
    await file.send();
    rmdirSync(file.path);
    expect((await file.send()).outcome).toEqual(delivered);
  });
});

// Keeps the beginning and the end of what a hook writes, as text that is safe to store and to show.

/** What a hook wrote, as its record says it. */
export interface HookOutput {
  readonly text: string;
  readonly truncated: boolean;
}

/** Takes what a hook writes, piece by piece, and never keeps more than a few KiB of it. */
export interface OutputKeeper {
  add(piece: Uint8Array): void;
  read(): HookOutput;
}

const headBytesMax = 2 * 1024;
const tailBytesMax = 6 * 1024;

export function keepOutput(): OutputKeeper {
  let head: Uint8Array = new Uint8Array(0);
  let tail: Uint8Array = new Uint8Array(0);
  let bytes = 0;
  return {
    add(piece) {
      bytes += piece.length;
      const room = headBytesMax - head.length;
      head = joined(head, piece.subarray(0, room));
      tail = joined(tail, piece.subarray(room)).slice(-tailBytesMax);
    },
    read() {
      const left = bytes - head.length - tail.length;
      if (left === 0)
        return { text: clean(joined(head, tail), headBytesMax + tailBytesMax), truncated: false };
      const mark = `\n[… ${left} bytes left out …]\n`;
      return { text: clean(head, headBytesMax) + mark + clean(tail, tailBytesMax), truncated: true };
    },
  };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

// What terminals take for colours and movements: ECMA-48, control sequences and operating system commands.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what it is about.
const terminalSequence = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** Well-formed text of at most so many bytes, with no control characters but new lines and tabs. */
function clean(bytes: Uint8Array, bytesMax: number): string {
  const text = new TextDecoder()
    .decode(bytes)
    .replaceAll(terminalSequence, '')
    .replaceAll('\r\n', '\n')
    // Nor what turns the direction of reading round, and makes a line look like another one.
    .replaceAll(/(?![\n\t])[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    // Each byte that is no text would become three.
    .replaceAll(/\ufffd+/g, '\ufffd');
  return firstBytes(text, bytesMax);
}

/** As many whole characters as fit. */
function firstBytes(text: string, bytesMax: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax));
  return text.slice(0, read);
}

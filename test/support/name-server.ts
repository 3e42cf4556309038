// A real name service on this machine (DNS over UDP) that says what a test wants to hear, and may change its mind.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface NameServer extends AsyncDisposable {
  /** How often the IPv4 addresses of a name were asked for. */
  asked(name: string): number;
}

/** The answers to one question after the other, the last one for all that follow; none = the service fails. */
export type NameAnswers = Readonly<Record<string, readonly string[]>>;

const typeA = 1;
const failure = 2;

/** Answers on port 53 of 127.0.0.1, which takes a network of one's own. */
export async function openNameServer(answers: NameAnswers): Promise<NameServer> {
  const asked = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    const given = answers[name] ?? [];
    const count = asked.get(name) ?? 0;
    if (type === typeA) asked.set(name, count + 1);
    const found = type === typeA ? given[Math.min(count, given.length - 1)] : undefined;
    socket.send(reply(query.subarray(0, end), found, given.length === 0 ? failure : 0), port, address);
  });
  socket.bind(53, '127.0.0.1');
  await once(socket, 'listening');
  return {
    asked: (name) => asked.get(name) ?? 0,
    [Symbol.asyncDispose]: async () => {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

const headerBytes = 12;

/** The question of a query (RFC 1035, section 4.1.2): labels that each begin with their length, a type, a class. */
function questionOf(query: Buffer) {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** @param asked the header and the question of the query */
function reply(asked: Buffer, address: string | undefined, code: number): Buffer {
  const header = Buffer.from(asked);
  // A response to a query that wanted recursion, from a service that offers it.
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(address === undefined ? 0 : 1, 6);
  header.writeUInt32BE(0, 8);
  if (address === undefined) return header;
  // The name is that of the question; type A, class IN, no time to live, four bytes.
  const record = Buffer.from([0xc0, headerBytes, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4]);
  return Buffer.concat([header, record, Buffer.from(address.split('.').map(Number))]);
}

// Asks the DHCP servers of the network for the address of Azure's fabric, and takes no address from them.
import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { systemClock } from '../../clock.ts';
import type { ListenAddress } from '../../config/listen.ts';
import { type DhcpQuestion, encodeDiscover, fabricFromAnswer } from '../../core/dhcp.ts';

export interface Asking {
  readonly server: ListenAddress;
  /** Where the question comes from, and the answer goes. */
  readonly from: ListenAddress;
  readonly hardwareAddress: Uint8Array;
  /** For all tries together. */
  readonly timeoutMs: number;
}

/** `without`: somebody answered, and named no such address. */
export type Asked =
  | { readonly status: 'found'; readonly address: string; readonly server: string }
  | { readonly status: 'without'; readonly server: string }
  | { readonly status: 'silent' }
  | { readonly status: 'failed'; readonly code: string };

// Each try waits twice as long as the one before (RFC 2131, section 4.1).
const shares = [1, 2, 4, 8];
const sharesInAll = shares.reduce((sum, share) => sum + share, 0);

/** Asks up to four times, until somebody names the address. Expected failures are values; aborting gives `silent`. */
export async function askNetwork(asking: Asking, signal: AbortSignal): Promise<Asked> {
  // The machine's own client may have the port as well.
  const socket = createSocket({ type: 'udp4', reuseAddr: true });
  using _closed = { [Symbol.dispose]: () => socket.close() };
  try {
    socket.bind(asking.from.port, asking.from.host);
    await once(socket, 'listening', { signal });
    socket.setBroadcast(true);
    return await askUntilTold(socket, asking, signal);
  } catch (error) {
    if (signal.aborted) return { status: 'silent' };
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { status: 'failed', code };
  }
}

async function askUntilTold(socket: Socket, asking: Asking, signal: AbortSignal): Promise<Asked> {
  const question = {
    transactionId: randomInt(2 ** 32),
    hardwareAddress: asking.hardwareAddress,
    secondsElapsed: 0,
  };
  const ears = listen(socket, question);
  const begunAt = systemClock.monotonic();
  for (const share of shares) {
    const secondsElapsed = Math.floor((systemClock.monotonic() - begunAt) / 1_000);
    await send(socket, encodeDiscover({ ...question, secondsElapsed }), asking.server);
    const waiting = AbortSignal.any([signal, ears.told]);
    await systemClock.sleep((asking.timeoutMs * share) / sharesInAll, waiting);
    const heard = ears.heard();
    // Who named no address this time will name none the next time.
    if (heard.status !== 'silent' || signal.aborted) return heard;
  }
  return { status: 'silent' };
}

/** What comes in is text of anybody: only what answers this very question counts. */
function listen(socket: Socket, question: DhcpQuestion) {
  const told = new AbortController();
  let heard: Asked = { status: 'silent' };
  socket.on('message', (bytes, { address: server }) => {
    const fabric = fabricFromAnswer(question, bytes);
    if (fabric === null || heard.status === 'found') return;
    heard = fabric === 'none' ? { status: 'without', server } : { status: 'found', address: fabric, server };
    if (fabric !== 'none') told.abort();
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    heard = { status: 'failed', code: error.code ?? error.name };
    told.abort();
  });
  return { told: told.signal, heard: () => heard };
}

const send = (socket: Socket, bytes: Uint8Array, { host, port }: ListenAddress): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.send(bytes, port, host, (error) => (error === null ? resolve() : reject(error)));
  });

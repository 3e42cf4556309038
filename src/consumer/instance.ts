// Names one run of the consumer, for the journal and for the others that share the hub.
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** The machine's name and four random bytes: a run that follows another one is not taken for it. */
export const newInstance = (): string =>
  `${
    hostname()
      .replaceAll(/[^\w.-]/g, '')
      .slice(0, 40) || 'consumer'
  }-${randomBytes(4).toString('hex')}`;

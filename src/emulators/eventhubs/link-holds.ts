// Links to entities keep a connection open; without any it is idle.
import type { AmqpLink } from './amqp.ts';

export interface LinkHolds extends Disposable {
  /** `onEnd` runs once, when the link is released. */
  hold(link: AmqpLink, onEnd: () => void): void;
  release(link: AmqpLink): void;
  releaseWhere(matches: (link: AmqpLink) => boolean): void;
}

/** @param onIdle runs when no link was held for `idleMs` */
export function createLinkHolds(idleMs: number, onIdle: () => void): LinkHolds {
  const held = new Map<AmqpLink, () => void>();
  let idle: NodeJS.Timeout | undefined = setTimeout(onIdle, idleMs);
  const release = (link: AmqpLink): void => {
    const onEnd = held.get(link);
    if (onEnd === undefined) return;
    held.delete(link);
    onEnd();
    if (held.size === 0) idle = setTimeout(onIdle, idleMs);
  };
  const releaseWhere = (matches: (link: AmqpLink) => boolean): void => {
    for (const link of [...held.keys()]) if (matches(link)) release(link);
  };
  return {
    hold(link, onEnd) {
      clearTimeout(idle);
      held.set(link, onEnd);
    },
    release,
    releaseWhere,
    [Symbol.dispose]() {
      releaseWhere(() => true);
      clearTimeout(idle);
    },
  };
}

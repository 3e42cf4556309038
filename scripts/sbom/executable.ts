// What an executable is made of, as both kinds of bill need it.
import type { PartsOfNode } from './parts-of-node.ts';

export interface Executable {
  /** Ours. */
  readonly version: string;
  /** The packages whose code is in it, as `name@version`. */
  readonly packages: readonly string[];
  readonly node: PartsOfNode;
  readonly madeAt: Date;
}

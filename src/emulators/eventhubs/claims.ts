// What the tokens of one connection let it do.
import type { Clock } from '../../clock.ts';
import { covers, type Grant, type Right } from './sas.ts';

export interface Claims {
  add(grant: Grant): void;
  /** @param path what is to be used @param right without one, any grant will do */
  allow(path: string, right?: Right): boolean;
}

/** A connection renews its tokens for ever: per path only the newest grant counts. */
export function createClaims(clock: Clock): Claims {
  const grants = new Map<string, Grant>();
  const isValid = (grant: Grant): boolean => grant.expiresAt > clock.now();
  return {
    add(grant) {
      for (const [path, old] of grants) if (!isValid(old)) grants.delete(path);
      grants.set(grant.path.toLowerCase(), grant);
    },
    allow: (path, right) =>
      [...grants.values()].some(
        (grant) =>
          isValid(grant) && covers(grant.path, path) && (right === undefined || grant.rights.includes(right)),
      ),
  };
}

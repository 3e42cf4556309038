// What Prometheus reads of the proofs of the trail. A label's value is the name of an anchor in the settings.
import { Gauge, type Registry } from '../status/prometheus.ts';
import type { KeepingStanding } from './keeping-standing.ts';

/** @returns sets the values for a page */
export function showKeeping(registers: Registry[]): (standing: KeepingStanding) => void {
  const shows = [showSeals(registers), showAnchors(registers), showArchive(registers)];
  return (standing) => {
    for (const show of shows) show(standing);
  };
}

function showSeals(registers: Registry[]): (standing: KeepingStanding) => void {
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const signed = gauge('seb_trail_signed', 'Whether the heads of the trail are signed: 1 = yes.');
  const age = gauge(
    'seb_seal_age_seconds',
    'Time since the last seal of any consumer; without one, since this one began.',
  );
  const waiting = gauge(
    'seb_seal_waiting_seconds',
    'For how long something that makes a seal due has been waiting; 0 = nothing waits.',
  );
  const sealed = gauge('seb_trail_sealed_entries', 'Entries of the trail that a seal names.');
  const unsealed = gauge('seb_trail_unsealed_entries', 'Entries of the trail that no seal names yet.');
  return ({ signed: isSigned, seals }) => {
    signed.set(isSigned ? 1 : 0);
    age.set(seals.ageMs / 1000);
    waiting.set(seals.waitingMs / 1000);
    sealed.set(seals.entries - seals.unsealed);
    unsealed.set(seals.unsealed);
  };
}

function showAnchors(registers: Registry[]): (standing: KeepingStanding) => void {
  const gauge = (name: string, help: string): Gauge<'anchor'> =>
    new Gauge({ name, help, labelNames: ['anchor'], registers });
  const failing = gauge('seb_anchor_failing', 'Whether the anchor takes no heads: 1 = it does not.');
  const age = gauge(
    'seb_anchor_age_seconds',
    'Time since the anchor last took a head from any consumer; without one, since this one began.',
  );
  const failures = gauge('seb_anchor_failures', 'Attempts of this run that the anchor did not take.');
  return ({ anchors }) => {
    for (const each of [failing, age, failures]) each.reset();
    for (const [anchor, { fault, ageMs, failures: count }] of Object.entries(anchors)) {
      failing.set({ anchor }, fault === null ? 0 : 1);
      age.set({ anchor }, ageMs / 1000);
      failures.set({ anchor }, count);
    }
  };
}

function showArchive(registers: Registry[]): (standing: KeepingStanding) => void {
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const age = gauge(
    'seb_archive_age_seconds',
    'Time since the copy of the trail was complete; 0 = no copy is kept.',
  );
  const failing = gauge(
    'seb_archive_failing',
    'Whether the copy of the trail does not go on: 1 = it does not.',
  );
  return ({ archive }) => {
    age.set((archive?.ageMs ?? 0) / 1000);
    failing.set(archive?.state === 'failing' ? 1 : 0);
  };
}

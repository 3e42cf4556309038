// An IMDS emulator in which a scenario of the test's own is under way.
import {
  type ImdsEmulator,
  type ImdsEmulatorOptions,
  startImdsEmulator,
} from '../../src/emulators/imds/emulator.ts';
import { readScenario } from '../../src/emulators/imds/scenario-file.ts';
import { scaleSetVms } from '../../src/emulators/imds/vm.ts';

/** Two VMs unless `options` says otherwise; the steps are those of a scenario file. */
export async function emulatorPlaying(
  steps: readonly object[],
  options: ImdsEmulatorOptions = {},
): Promise<ImdsEmulator> {
  const emulator = await startImdsEmulator({ vms: scaleSetVms(2), ...options });
  const text = JSON.stringify({ summary: 'a test', steps });
  void emulator.play(readScenario(text, 'a test', emulator.vms));
  return emulator;
}

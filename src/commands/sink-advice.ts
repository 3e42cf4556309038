// The advice about one sink of a configuration, with what only the configuration knows.
import { unreadableSecrets } from '../config/secret.ts';
import { adviceOf } from '../core/advice.ts';
import type { DeliveryReason } from '../core/delivery.ts';
import type { SinkSettings } from '../sinks/index.ts';

/** One sentence without its full stop; of secrets that cannot be read it names the settings and the places. */
export function sinkAdvice(reason: DeliveryReason, settings: SinkSettings): string {
  const advice = adviceOf(reason, settings.type);
  const places = reason === 'secret-unreadable' ? unreadableSecrets(settings) : [];
  return places.length === 0 ? advice : `${advice}: ${places.join(', ')}`;
}

// POSTs records to a URL of your own, one CloudEvent per request.
import * as z from 'zod';
import { dataPolicy } from '../core/delivery.ts';
import { openHttpSink } from './http.ts';
import { headerSettings, httpSettings } from './http-settings.ts';
import { affectedFilter, defineSink } from './sink.ts';

export const webhook = defineSink({
  type: 'webhook',
  summary: 'POSTs each record as a CloudEvent to a URL.',
  settings: z.strictObject({ ...httpSettings, headers: headerSettings }),
  filter: affectedFilter,
  policy: dataPolicy,
  open: (settings, { version }) =>
    openHttpSink(settings, {
      messageOf: ({ record, bytes }) => ({
        headers: {
          ...Object.fromEntries(
            Object.entries(settings.headers).map(([name, value]) => [name, value.reveal()]),
          ),
          'content-type': 'application/cloudevents+json; charset=utf-8',
          'user-agent': `scheduled-events-bridge/${version}`,
          'webhook-id': record.id,
        },
        body: bytes,
      }),
    }),
});

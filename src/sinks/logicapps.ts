// POSTs records to the Request trigger of an Azure Logic Apps workflow, which reads them as JSON objects.
import * as z from 'zod';
import { dataPolicy } from '../core/delivery.ts';
import { outcomeOfAnswer } from './http/answer.ts';
import { checkSigned, clientIdSetting, openBearer, signWith } from './http/bearer.ts';
import { openHttpExchange } from './http.ts';
import { httpSettings } from './http-settings.ts';
import { affectedFilter, defineSink, type Sink, type SinkContext } from './sink.ts';

const settings = z
  .strictObject({
    ...httpSettings,
    auth: z
      .enum(['sas', 'managedIdentity'])
      .default('sas')
      .describe(
        '`sas`: the signature in the URL lets the record in. `managedIdentity`: the VM’s identity does, and the ' +
          'signature is left out; the workflow needs an authorization policy that lets it in.',
      ),
    clientId: clientIdSetting,
    audience: z
      .string()
      .min(1)
      .default('https://management.azure.com/')
      .describe('Whom the token is for: the audience of the workflow’s authorization policy.'),
    contentType: z
      .string()
      .regex(/^[\w.+-]+\/[\w.+-]+(;[ -~]+)?$/, 'Expected a media type such as application/json')
      .default('application/json')
      .describe('Content type of the request. A workflow makes a JSON object of `application/json` only.'),
  })
  .refine(
    ({ auth, clientId }) => auth === 'managedIdentity' || clientId === undefined,
    'clientId goes with auth: managedIdentity',
  );

type Settings = z.output<typeof settings>;

export const logicapps = defineSink({
  type: 'logicapps',
  summary: 'POSTs each record to the Request trigger of an Azure Logic Apps workflow.',
  settings,
  filter: affectedFilter,
  policy: dataPolicy,
  open: openLogicApps,
});

function openLogicApps(given: Settings, { imdsEndpoint, version }: SinkContext): Sink {
  const { url, auth, clientId, audience, contentType } = given;
  const exchange = openHttpExchange(given, () => url.reveal());
  const signed = auth === 'sas';
  const sign = signed
    ? signWith(() => ({}))
    : openBearer({ imdsEndpoint, clientId, audience }, given.timeout);
  return {
    send: ({ record, bytes }, signal) =>
      exchange.attempt(async (turn) => {
        const { headers, judge } = await sign(turn);
        const answer = await turn.post({
          url: signed ? turn.url : withoutSignature(turn.url),
          headers: {
            'content-type': contentType,
            'user-agent': `scheduled-events-bridge/${version}`,
            // Makes the run findable by the record's id.
            'x-ms-client-tracking-id': record.id,
            ...headers,
          },
          body: bytes,
        });
        return judge(outcomeOfAnswer(answer, Date.now(), 'logicapps'));
      }, signal),
    check: (signal) => checkSigned(exchange, sign, signal),
    [Symbol.asyncDispose]: () => exchange[Symbol.asyncDispose](),
  };
}

/** A call uses either a signature or a token: next to a signature, the trigger refuses or ignores the token. */
function withoutSignature(url: URL): URL {
  const bare = new URL(url);
  for (const name of ['sp', 'sv', 'sig']) bare.searchParams.delete(name);
  return bare;
}

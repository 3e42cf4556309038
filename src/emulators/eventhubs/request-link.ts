// Requests and their answers on a pair of links, for `$cbs` and `$management`.
import { pathOf } from './address.ts';
import {
  type AmqpReceiver,
  type AmqpRequest,
  type AmqpSender,
  acceptLink,
  decodeMessage,
  encodeMessage,
  typed,
} from './amqp.ts';

export interface Reply {
  readonly statusCode: number;
  readonly description: string;
  /** The AMQP condition of a failure. */
  readonly condition?: string;
  readonly body?: unknown;
}

/** Python names no link to answer on: then it is the one that reads from the same node in the same session. */
function replyLink(receiver: AmqpReceiver, request: AmqpRequest): AmqpSender | undefined {
  const { session } = receiver;
  const node = pathOf(receiver.target?.address ?? '');
  const asked = request.reply_to;
  const named =
    asked === undefined
      ? undefined
      : session.connection.find_sender((link) => link.name === asked || link.target?.address === asked);
  return named ?? session.find_sender((link) => pathOf(link.source?.address ?? '') === node);
}

function encodeReply(request: AmqpRequest, reply: Reply): Buffer {
  return encodeMessage({
    ...(request.message_id === undefined ? {} : { correlation_id: request.message_id }),
    application_properties: {
      'status-code': typed.int(reply.statusCode),
      'status-description': reply.description,
      ...(reply.condition === undefined ? {} : { 'error-condition': reply.condition }),
    },
    body: reply.body ?? null,
  });
}

/**
 * Answers every request that arrives on a link.
 * @param answer returns undefined for a request that is never answered
 */
export function serveRequests(
  receiver: AmqpReceiver,
  answer: (request: AmqpRequest) => Reply | undefined,
): void {
  acceptLink(receiver);
  receiver.on('message', ({ delivery, message }) => {
    const request = message && decodeMessage<AmqpRequest>(message);
    delivery?.accept();
    if (request === undefined) return;
    // rhea writes transfers before dispositions, and uamqp-c wants the accept before the answer.
    setImmediate(() => {
      const reply = answer(request);
      if (reply !== undefined) replyLink(receiver, request)?.send(encodeReply(request, reply), undefined, 0);
    });
  });
}

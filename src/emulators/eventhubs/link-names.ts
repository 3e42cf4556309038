// Lets a client use one link name in both directions, which AMQP allows and rhea does not.
import type { AmqpConnection, AmqpLink, AmqpSession, AttachFrame } from './amqp.ts';

/** The key under which rhea files a link that came second with its name. */
const secondKey = (name: string): string => `${name}\n`;

function attach(session: AmqpSession, onAttach: (frame: AttachFrame) => void, frame: AttachFrame): void {
  const { name, role } = frame.performative;
  const first = session.links[name];
  if (first === undefined || first.is_sender() === role) {
    onAttach(frame);
    return;
  }
  const second = session.links[secondKey(name)];
  if (second === undefined) delete session.links[name];
  else session.links[name] = second;
  onAttach(frame);
  const attached = session.links[name];
  session.links[name] = first;
  if (attached !== undefined) session.links[secondKey(name)] = attached;
}

function deleteValue<Value>(entries: Record<string, Value>, value: Value): void {
  for (const [key, other] of Object.entries(entries)) if (other === value) delete entries[key];
}

function remove(session: AmqpSession, link: AmqpLink): void {
  for (const entries of [session.links, session.local.handles, session.remote.handles])
    deleteValue(entries, link);
}

/** Files the links of every session by name and direction. */
export function separateLinkNames(connection: AmqpConnection): void {
  connection.on('session_open', ({ session }) => {
    if (session === undefined) return;
    const onAttach = session.on_attach.bind(session);
    session.on_attach = (frame) => attach(session, onAttach, frame);
    session.remove_link = (link) => remove(session, link);
  });
}

// What each status means, written down from the reference's table of answers and not from the code's.
import type { Receiver } from '../../../src/core/answer-table.ts';
import type { Outcome } from '../../../src/core/delivery.ts';
import type { HttpSubject } from '../http-subject.ts';

/**
 * `ok`; `retry` with backoff; `dead`: this record is given up, the sink goes on; `suspend`: the sink rests, its queue is
 * kept; `first`: as `suspend`, but tried often for the first 15 minutes.
 */
type Word = 'ok' | 'retry' | 'dead' | 'suspend' | 'first';

const order: readonly Receiver[] = ['webhook', 'slack', 'teams', 'logicapps', 'eventgrid'];

// status  webhook  slack    teams    logicapps  eventgrid
const rows = `
  200      ok       ok       ok       ok         ok
  201      ok       ok       ok       ok         ok
  202      ok       ok       ok       ok         ok
  204      ok       ok       ok       ok         ok
  299      ok       ok       ok       ok         ok
  300      first    first    first    first      first
  301      first    first    first    first      first
  302      first    first    first    first      first
  303      first    first    first    first      first
  304      first    first    first    first      first
  307      first    first    first    first      first
  308      first    first    first    first      first
  400      dead     dead     dead     dead       dead
  401      suspend  suspend  suspend  suspend    suspend
  402      dead     dead     dead     dead       dead
  403      suspend  suspend  suspend  suspend    first
  404      first    suspend  suspend  suspend    suspend
  405      dead     dead     dead     dead       dead
  406      dead     dead     dead     dead       dead
  407      retry    retry    retry    retry      retry
  408      retry    retry    retry    retry      retry
  409      dead     dead     first    retry      dead
  410      suspend  suspend  suspend  suspend    suspend
  411      dead     dead     dead     dead       dead
  412      dead     dead     dead     dead       dead
  413      dead     dead     dead     dead       dead
  414      dead     dead     dead     dead       dead
  415      dead     dead     dead     dead       dead
  418      dead     dead     dead     dead       dead
  421      retry    retry    retry    retry      retry
  422      dead     dead     dead     dead       dead
  423      dead     dead     dead     dead       dead
  425      retry    retry    retry    retry      retry
  429      retry    retry    retry    retry      retry
  431      dead     dead     dead     dead       dead
  451      dead     dead     dead     dead       dead
  499      dead     dead     dead     dead       dead
  500      retry    retry    retry    retry      retry
  501      dead     dead     dead     dead       dead
  502      retry    retry    retry    retry      retry
  503      retry    retry    retry    retry      retry
  504      retry    retry    retry    retry      retry
  505      dead     dead     dead     dead       dead
  507      retry    retry    retry    retry      retry
  520      retry    retry    retry    retry      retry
  523      retry    retry    retry    retry      retry
  527      retry    retry    retry    retry      retry
  600      retry    retry    retry    retry      retry
  999      retry    retry    retry    retry      retry
`;

/** Each status with what it comes to, as a row of a table of tests. */
export function expectedAnswers(subject: HttpSubject): (readonly [number, Word | 'otherwise', Outcome])[] {
  const column = order.indexOf(subject.receiver ?? 'webhook');
  return rows
    .trim()
    .split('\n')
    .map((line) => {
      const [text, ...words] = line.trim().split(/\s+/);
      const status = Number(text);
      const otherwise = subject.differs?.[status];
      if (otherwise !== undefined) return [status, 'otherwise', otherwise];
      const word = words[column] as Word;
      return [status, word, outcomeOf(word, status)];
    });
}

function outcomeOf(word: Word, status: number): Outcome {
  const reason = `http-${status}` as const;
  if (word === 'ok') return { status: 'delivered' };
  if (word === 'dead') return { status: 'rejected', reason };
  if (word === 'retry') return { status: 'retryable', reason };
  return { status: 'unavailable', reason, ...(word === 'first' ? { passing: true } : {}) };
}

// Which agents are heard of as they should be.
import { describe, expect, it } from 'vitest';
import { type AgentSummary, agentStateOf, joinAgents, summarizeAgent } from '../../src/core/agent-fold.ts';
import { readRecord } from '../../src/core/read-record.ts';
import { type BridgeRecord, encodeRecord } from '../../src/core/record.ts';
import { type FinalEvent, standingsOf, withEnds } from '../../src/core/silence.ts';
import { observerOf, saying, synthesisAt } from '../support/synthetic.ts';
import { beating } from '../support/synthetic-deeds.ts';

const minute = 60_000;
const hour = 60 * minute;

/** What is known of an agent that sent these. */
function known(...records: readonly BridgeRecord[]): AgentSummary {
  const states = records.map((record) => {
    const reading = readRecord(encodeRecord(record));
    if (reading.status !== 'record') throw new Error(reading.reason);
    return { agentId: reading.record.agent.agentId, state: agentStateOf(reading.record) };
  });
  const joined = states.map(({ state }) => state).reduce(joinAgents);
  return summarizeAgent(states[0]?.agentId ?? '', joined);
}

const standing = (agents: readonly AgentSummary[], after: number, events: readonly FinalEvent[] = []) =>
  standingsOf(withEnds(agents, events), synthesisAt + after);

const stateOf = (agent: AgentSummary, after: number): string | undefined =>
  standing([agent], after)[0]?.state;

describe('an agent', () => {
  it('is silent one and a half intervals and a minute after its last word, and not before', () => {
    const agent = known(beating());
    expect(stateOf(agent, 91 * minute)).toBe('heard');
    expect(stateOf(agent, 91 * minute + 1)).toBe('silent');
    expect(standing([agent], 0)).toMatchObject([
      { expectedBy: synthesisAt + 91 * minute, since: synthesisAt },
    ]);
  });

  it('is measured by the interval that it told, and by an hour before it told one', () => {
    expect(stateOf(known(beating({ heartbeatIntervalMs: 10 * minute })), 16 * minute + 1)).toBe('silent');
    expect(stateOf(known(saying({ kind: 'scheduled' })), 91 * minute)).toBe('heard');
    expect(stateOf(known(saying({ kind: 'scheduled' })), 91 * minute + 1)).toBe('silent');
  });

  it('is expected within a day and a half, whatever interval it tells', () => {
    const agent = known(beating({ heartbeatIntervalMs: Number.MAX_SAFE_INTEGER }));
    expect(standing([agent], 0)).toMatchObject([{ expectedBy: synthesisAt + 36 * hour + minute }]);
  });

  it('is heard by any record, whatever it says', () => {
    const agent = known(beating(), saying({ kind: 'scheduled', after: 80 * minute }));
    expect(stateOf(agent, 100 * minute)).toBe('heard');
  });

  it('is asleep when it says that IMDS does not answer it, since the last document that came', () => {
    const lastDocumentAt = new Date(synthesisAt - 5 * minute).toISOString();
    const agent = known(beating({ source: { state: 'failing', lastDocumentAt } }));
    expect(standing([agent], minute)).toMatchObject([{ state: 'asleep', since: synthesisAt - 5 * minute }]);
    const never = known(beating({ source: { state: 'warming', lastDocumentAt: null } }));
    expect(standing([never], minute)).toMatchObject([{ state: 'asleep', since: synthesisAt }]);
  });

  it('is asleep when its last document was more than ten minutes old as it spoke', () => {
    const source = (ms: number) => ({
      source: { state: 'fresh', lastDocumentAt: new Date(synthesisAt - ms).toISOString() },
    });
    expect(stateOf(known(beating(source(10 * minute))), minute)).toBe('heard');
    expect(stateOf(known(beating(source(10 * minute + 1))), minute)).toBe('asleep');
  });

  it('is heard again once a later heartbeat says that IMDS answers', () => {
    const agent = known(
      beating({ source: { state: 'failing', lastDocumentAt: null } }),
      beating({}, { after: hour, sequence: 51 }),
    );
    expect(stateOf(agent, hour + minute)).toBe('heard');
  });

  it('is unknown when its last word lies in the future, as its clock is wrong', () => {
    expect(stateOf(known(beating({}, { after: 5 * minute })), 0)).toBe('heard');
    expect(stateOf(known(beating({}, { after: 5 * minute + 1 })), 0)).toBe('unknown');
  });

  it('gives way to a later installation on the same VM', () => {
    const [before, after] = [
      known(beating()),
      known(beating({}, { vm: 7, after: 10 * hour, observer: observerOf(0) })),
    ];
    expect(standing([before, after], 10 * hour)).toMatchObject([{ agentId: 'instance-7', state: 'heard' }]);
  });
});

describe('a VM that an event ended', () => {
  const agent = known(beating());
  const end = (change: Partial<FinalEvent> = {}): FinalEvent => ({
    ...{ vmKeys: ['web-0'], firstAt: synthesisAt + minute, at: synthesisAt + 2 * minute },
    ...change,
  });

  it('is gone and not silent, from when the event took effect', () => {
    expect(standing([agent], 10 * hour, [end()])).toMatchObject([
      { state: 'gone', since: synthesisAt + 2 * minute },
    ]);
    expect(standing([agent], minute, [end()])).toMatchObject([{ state: 'heard' }]);
  });

  it('is not gone when it spoke again, or when the event named a VM of its name long before or after', () => {
    const others = [
      end({ at: synthesisAt - 6 * minute }),
      end({ firstAt: synthesisAt + 25 * hour, at: synthesisAt + 25 * hour }),
      end({ vmKeys: ['web-1'] }),
    ];
    for (const other of others) {
      expect(standing([agent], 30 * hour, [other])).toMatchObject([{ state: 'silent' }]);
    }
  });
});

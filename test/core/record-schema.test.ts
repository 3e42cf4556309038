// The published JSON Schemas: whether they are what the code gives, take every record the bridge makes, and no other.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { CloudEvent } from 'cloudevents';
import { describe, expect, it } from 'vitest';
import { schemaFiles } from '../../scripts/docs.ts';
import type { ApprovalData, ApprovalReason, HookOutcome, ImpactData } from '../../src/core/deed.ts';
import { readDocument, type ScheduledEvent } from '../../src/core/document.ts';
import type { FleetFact, FleetVm, Speaker } from '../../src/core/fleet-fact.ts';
import { fleetRecord, silenceRecord, waveRecord } from '../../src/core/fleet-record.ts';
import { unknownObserver } from '../../src/core/observer.ts';
import {
  agentRecord,
  type BridgeRecord,
  encodeRecord,
  eventRecord,
  factId,
  familyOf,
} from '../../src/core/record.ts';
import { recordSchemas } from '../../src/core/record-schema.ts';
import { sampleRecords, sampleDeeds as shippedDeeds } from '../../src/core/sample-records.ts';
import { emptyWatch, observe, type Watch } from '../../src/core/watch.ts';
import { foldWave, type Wave } from '../../src/core/wave.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { loadScenario, scenarioNames } from '../../src/emulators/imds/scenario.ts';
import { lengthMsMaxOf } from '../../src/emulators/imds/script.ts';
import { completeVm, scaleSetVms } from '../../src/emulators/imds/vm.ts';
import { approvalOf, hookOf, impactOf, rebootImpact, sampleDeeds } from '../support/deed-records.ts';
import { fixtureNames, fixtureText, goodDocument } from '../support/documents.ts';
import { hookScripts } from '../support/hooks.ts';
import { sampleAgentRecord, sampleLife, sampleRecord } from '../support/records.ts';
import { startAgent } from '../support/running-agent.ts';
import { emulatorPlaying } from '../support/running-imds.ts';
import { projectRoot } from '../support/source-files.ts';
import { provenance, stamp, storyBeginsAt } from '../support/story.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const published = join(projectRoot, 'docs/schema');

/** The schema in a published file, compiled as strictly as Ajv can. */
function validatorOf(file: string): ValidateFunction {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(JSON.parse(readFileSync(join(published, file), 'utf8')));
}

const record = validatorOf('record.v1.schema.json');
const families: Readonly<Record<string, ValidateFunction>> = {
  'urn:scheduled-events-bridge:event:v1': validatorOf('event.v1.schema.json'),
  'urn:scheduled-events-bridge:agent:v1': validatorOf('agent.v1.schema.json'),
  'urn:scheduled-events-bridge:approval:v1': validatorOf('approval.v1.schema.json'),
  'urn:scheduled-events-bridge:hook:v1': validatorOf('hook.v1.schema.json'),
  'urn:scheduled-events-bridge:impact:v1': validatorOf('impact.v1.schema.json'),
  'urn:scheduled-events-bridge:fleet:v1': validatorOf('fleet.v1.schema.json'),
};

/** What a schema finds wrong with a value. */
const faultsIn = (validate: ValidateFunction, value: unknown): readonly string[] =>
  validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);

/** Asks all that judge: both schemas, and the CloudEvents SDK; as a receiver would, of the bytes. */
function expectValid(given: BridgeRecord): void {
  const received = JSON.parse(encodeRecord(given).toString());
  expect(faultsIn(record, received), given.id).toEqual([]);
  const data = families[received.dataschema];
  expect(data && faultsIn(data, received.data), given.id).toEqual([]);
  expect(new CloudEvent(received).validate(), given.id).toBe(true);
}

/** Lets an agent see one list of events after another, and gives the records of what it made of them. */
function recordsOf(documents: readonly (readonly ScheduledEvent[])[], by = stamp): BridgeRecord[] {
  let watch: Watch = emptyWatch('boot');
  return documents.flatMap((events, index) => {
    const now = storyBeginsAt + index * 1_000;
    const moment = {
      now,
      pollGapMs: index === 0 ? null : 1_000,
      bootId: 'boot',
      firstSinceStart: index === 0,
    };
    const observed = observe(watch, { incarnation: String(index + 1), events, partial: false }, moment);
    watch = observed.watch;
    return observed.observations.map((observation) =>
      eventRecord(observation, factId(observation.kind, observation.event), by, provenance),
    );
  });
}

const fixtures = fixtureNames().flatMap((name) => {
  const reading = readDocument(fixtureText(name));
  return reading.status === 'document' && reading.document.events.length > 0
    ? [[name, reading.document.events] as const]
    : [];
});

/** An event is announced, changes, starts, and is gone; and another time it is called off. */
const livesOf = (events: readonly ScheduledEvent[]) => [
  [
    [],
    events,
    events.map((event) => ({
      ...event,
      notBefore: '2031-01-01T00:00:00Z',
      description: null,
      resources: [],
    })),
    events.map((event) => ({ ...event, eventStatus: 'Started', notBefore: null })),
    [],
  ],
  [
    [],
    events.map((event) => ({ ...event, eventStatus: 'Scheduled', notBefore: '2031-01-01T00:00:00Z' })),
    [],
  ],
  [events, events, []],
];

// Slow enough that every phase is seen between two looks, quick enough for a test.
const playMs = 2_000;

/** What an agent makes of a scenario that ships, watching the first VM of six. */
async function recordsOfScenario(name: string): Promise<readonly BridgeRecord[]> {
  const vms = scaleSetVms(6);
  const speed = lengthMsMaxOf(await loadScenario(name, vms.map(completeVm))) / playMs;
  await using imds = await startImdsEmulator({ vms, speed });
  const documents: (readonly ScheduledEvent[])[] = [];
  const look = () => documents.push(goodDocument(imds.document()).events);
  look();
  let over = false;
  const playing = imds.play(await loadScenario(name, imds.vms)).finally(() => {
    over = true;
  });
  await until(`${name} is over`, () => look() > 0 && over);
  await playing;
  look();
  return recordsOf(documents);
}

describe('the files in docs/schema', () => {
  it('are what `npm run docs` writes now', () => {
    const expected = schemaFiles();
    expect(readdirSync(published).toSorted()).toEqual(expected.map(([name]) => name).toSorted());
    for (const [name, text] of expected) expect(readFileSync(join(published, name), 'utf8'), name).toBe(text);
  });

  it('are named by the dataschema of the records', () => {
    const ids = Object.values(recordSchemas()).map(({ $id }) => $id);
    const named = [sampleRecord(), sampleAgentRecord(), ...sampleDeeds(), ...fleetRecords()].map(
      ({ dataschema }) => dataschema,
    );
    expect(named.filter((urn) => !ids.includes(urn))).toEqual([]);
    expect(Object.keys(families).toSorted()).toEqual([...new Set(named)].toSorted());
  });
});

describe('the published schemas take', () => {
  it.each(fixtures)('every record of the lives of %s', (_, events) => {
    const unknown = { ...stamp, observer: unknownObserver };
    const records = livesOf(events).flatMap((life) => [...recordsOf(life), ...recordsOf(life, unknown)]);
    const kinds = new Set(records.map(({ type }) => type.split('.').at(-2)));
    expect(kinds).toEqual(new Set(['scheduled', 'updated', 'started', 'completed', 'canceled']));
    for (const each of records) expectValid(each);
  });

  it('every record of every scenario that ships, played to its end', async () => {
    const played = await Promise.all(scenarioNames().map(({ name }) => recordsOfScenario(name)));
    for (const records of played) {
      expect(records.length).toBeGreaterThan(1);
      for (const each of records) expectValid(each);
    }
  });

  it('what a running agent says about itself, and about an event', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    await using agent = startAgent(directory.path, imds.url, { heartbeatInterval: '1s' });
    const kinds = () => new Set(agent.records().map(({ type }) => type.split('.').slice(-3, -1).join('.')));
    await until('a first heartbeat', () => kinds().has('agent.heartbeat'));
    imds.show(fixtureText('04-livemigration-2-scheduled.json'));
    await until('an event', () => kinds().has('event.scheduled'));
    const heard = agent.records().length;
    await until('another heartbeat', () => agent.records().length > heard);
    expect(kinds()).toEqual(new Set(['agent.started', 'agent.heartbeat', 'event.scheduled']));
    for (const each of agent.records()) expectValid(each);
  });

  it('what a running agent says of hooks, of an approval after them, and of what its VM felt', async () => {
    using directory = temporaryDirectory();
    const steps = [
      { schedule: 'a', type: 'Reboot', source: 'User', notice: '15m', lasts: '1s', vms: 'first' },
    ];
    await using imds = await emulatorPlaying(steps);
    const { script } = hookScripts(directory.path);
    await using agent = startAgent(directory.path, imds.url, {
      approval: { enabled: true, rules: [{ match: { sources: ['User'] }, action: 'afterHooks' }] },
      hooks: [
        { on: 'prepare', command: [script('drain', 'echo drained')] },
        { on: 'recover', command: [script('undrain', 'exit 3')] },
      ],
    });
    const deeds = () =>
      agent.records().filter(({ type }) => familyOf(type) !== 'event' && !type.includes('.agent.'));
    await until('two hooks, an approval and an impact', () => deeds().length === 6);
    const families = deeds().map(({ type }) => familyOf(type));
    expect(families.toSorted()).toEqual(['approval', 'hook', 'hook', 'hook', 'hook', 'impact']);
    for (const each of deeds()) expectValid(each);
  });

  it('the samples, the test of a sink, and an event that was already there', () => {
    const test = agentRecord('test', storyBeginsAt, { test: true, sink: 'ops' }, stamp);
    for (const each of [...sampleRecords(), ...shippedDeeds(), sampleRecord(), test]) expectValid(each);
  });

  it('everything that an agent may say of an approval, a hook and an impact', () => {
    for (const each of [...sampleDeeds(), ...variedDeeds()]) expectValid(each);
  });

  it('what a consumer says of the whole fleet: facts, waves of one event and of several, and silence', () => {
    const records = fleetRecords();
    const kinds = new Set(records.map(({ type }) => type.split('.').slice(3, -1).join('.')));
    expect([...kinds].toSorted()).toEqual([
      'event.completed',
      'event.scheduled',
      'event.started',
      'fleet.silence',
      'fleet.wave',
    ]);
    for (const each of records) expectValid(each);
  });

  it('what they do not know, because readers must ignore it', () => {
    const good = sampleRecord();
    expectValid({
      ...good,
      traceparent: '00-1-2-01',
      data: { ...good.data, more: { deep: [1] }, event: { ...good.data.event, more: null } },
    } as BridgeRecord);
  });
});

/** A record for each word that the closed lists of deeds have; the compiler notices one that is missing. */
function variedDeeds(): readonly BridgeRecord[] {
  const words = <Word extends string>(list: Readonly<Record<Word, 0>>) => Object.keys(list) as Word[];
  return [
    ...words<ApprovalReason>({
      ...{ rule: 0, person: 0, 'no-rule': 0, never: 0, shared: 0, 'terminates-others': 0 },
      ...{ 'prepare-failed': 0, 'refused-by-imds': 0, 'too-late': 0, gone: 0 },
    }).map((reason) => approvalOf({ reason })),
    ...words<ApprovalData['decision']>({ approved: 0, refused: 0, failed: 0 }).map((decision) =>
      approvalOf({ decision, answer: { status: null, attempts: 4 } }),
    ),
    ...words<NonNullable<ApprovalData['elected']>>({ alone: 0, first: 0, second: 0, person: 0 }).map(
      (elected) => approvalOf({ elected }),
    ),
    ...words<HookOutcome>({
      ...{
        started: 0,
        succeeded: 0,
        failed: 0,
        'timed-out': 0,
        interrupted: 0,
        unknown: 0,
        'not-started': 0,
      },
    }).map((outcome) => hookOf({ outcome, exitCode: null, durationMs: null, output: null, startedAt: null })),
    ...words<ImpactData['kind']>({ none: 0, pause: 0, reboot: 0, unknown: 0 }).map((kind) =>
      impactOf({ kind, measured: null, pauses: [], advertisedSeconds: null }),
    ),
    rebootImpact({ moved: { temporaryDisk: 'unknown', faultDomain: { before: null, after: null } } }),
    ...[approvalOf({}, nobody), hookOf({}, nobody), impactOf({}, nobody)],
  ];
}

const speaker: Speaker = { source: 'urn:uuid:7c0f7c1e-58c1-4a8e-8bb5-0b7a34f7a3b4', agent: stamp.agent };

/** Facts of two events of one scale set, as a consumer tells them, and what it makes of them. */
function fleetRecords(): readonly BridgeRecord[] {
  const facts = [...sampleLife(), ...sampleLife({ resources: ['WestNO_2'] })].map(
    (record): FleetFact => ({
      record,
      vms: record.data.event.resources.map((name) => ({ ...unknownVm, name, vmScaleSet: 'WestNO' })),
      observers: 2,
      missing: [{ name: 'WestNO_1', reason: 'silent' }],
    }),
  );
  let waves: readonly Wave[] = [];
  const told = facts.flatMap((fact) => {
    const folded = foldWave(waves, fact, Date.parse(fact.record.time));
    waves = folded.waves;
    const wave = waves.find(({ id }) => id === folded.waveId);
    return [fleetRecord(fact, speaker), ...(wave ? [waveRecord(wave, storyBeginsAt, speaker)] : [])];
  });
  const vm = { name: 'WestNO_1', vmId: null, since: null, expectedBy: null };
  const known = { name: 'WestNO_0', vmId: '1', since: isoTime, expectedBy: isoTime };
  const silences = (['silent', 'heard', 'asleep', 'awake'] as const).map((state) =>
    silenceRecord({ state, vms: [vm, known] }, storyBeginsAt, speaker),
  );
  return [...told, ...silences];
}

const isoTime = '2026-11-10T22:11:31.204Z';

const unknownVm: FleetVm = {
  name: '',
  vmId: null,
  resourceId: null,
  location: null,
  zone: null,
  faultDomain: null,
  vmScaleSet: null,
  placementGroupId: null,
};

const nobody = { ...stamp, observer: unknownObserver };

type Tree = Record<string, unknown>;

/** A copy in which the value at a path is another one, or is gone when that is undefined. */
function changed(tree: unknown, path: string, value: unknown): Tree {
  const copy = structuredClone(tree) as Tree;
  const names = path.split('.');
  const last = names.pop() ?? '';
  const parent = names.reduce((parent, name) => parent[name] as Tree, copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

/** The paths of every value in a record that must be there, by the schemas' own word. */
const eventPaths = [
  ...['specversion', 'id', 'source', 'type', 'time', 'datacontenttype', 'dataschema', 'correlationid'],
  ...[
    'partitionkey',
    'sequence',
    'severitytext',
    'severitynumber',
    'data',
    'data.transition',
    'data.inferred',
  ],
  ...['data.reason', 'data.affected', 'data.initial', 'data.event', 'data.previous', 'data.timeline'],
  ...['data.noticeSeconds', 'data.document', 'data.observer', 'data.clock', 'data.agent'],
  ...Object.keys(sampleRecord().data.event).map((name) => `data.event.${name}`),
  ...Object.keys(sampleRecord().data.observer).map((name) => `data.observer.${name}`),
  ...['data.document.incarnation', 'data.document.apiVersion', 'data.clock.bootId', 'data.clock.pollGapMs'],
  ...['data.agent.version', 'data.agent.instanceId', 'data.agent.sequence'],
];

/** What no deed may say, each with the record in which it does. */
const wrongDeeds: readonly (readonly [deed: BridgeRecord, path: string, value: unknown])[] = [
  [approvalOf(), 'data.decision', 'maybe'],
  [approvalOf(), 'data.reason', 'mood'],
  [approvalOf(), 'data.rule.place', 0],
  [approvalOf(), 'data.rule.action', 'always'],
  [approvalOf(), 'data.actor.kind', undefined],
  [approvalOf(), 'data.elected', 'third'],
  [approvalOf(), 'data.answer.attempts', -1],
  [approvalOf(), 'data.undelivered', [1]],
  [approvalOf(), 'data.event.eventId', ''],
  [hookOf(), 'data.phase', 'during'],
  [hookOf(), 'data.outcome', 'done'],
  [hookOf(), 'data.exitCode', 1.5],
  [hookOf(), 'data.durationMs', -1],
  [hookOf(), 'data.startedAt', 'yesterday'],
  [hookOf(), 'data.ending', 'started'],
  [impactOf(), 'data.kind', 'crash'],
  [impactOf(), 'data.measured.upperMs', undefined],
  [impactOf(), 'data.measured.lowerMs', -1],
  [impactOf(), 'data.window.from', null],
  [impactOf(), 'data.pauses.0.at', undefined],
  [impactOf(), 'data.moved.temporaryDisk', 'lost'],
  [rebootImpact(), 'data.reboot.bootIdAfter', undefined],
  [hookOf(), 'type', 'io.github.scheduled-events-bridge.approval.v1'],
  [hookOf(), 'dataschema', 'urn:scheduled-events-bridge:approval:v1'],
];

describe('the published schemas refuse', () => {
  it.each(eventPaths)('an event record without %s', (path) => {
    expect(faultsIn(record, changed(sampleRecord(), path, undefined))).not.toEqual([]);
  });

  it.each([
    ['specversion', '1.1'],
    ['id', 'a.b'],
    ['id', 'x'.repeat(129)],
    ['source', 'vm-1'],
    ['type', 'io.github.scheduled-events-bridge.event.scheduled.v2'],
    ['type', 'io.github.scheduled-events-bridge.event.started.v1'],
    ['type', 'io.github.scheduled-events-bridge.agent.started.v1'],
    ['time', '2026-11-10 22:11:31'],
    ['time', 1_794_348_691],
    ['datacontenttype', 'text/plain'],
    ['dataschema', 'urn:scheduled-events-bridge:agent:v1'],
    ['subject', null],
    ['sequence', '42'],
    ['sequence', 42],
    ['severitytext', 'DEBUG'],
    ['severitynumber', 10],
    ['data', 'text'],
    ['data.transition', 'started'],
    ['data.inferred', 'false'],
    ['data.reason', 'guess'],
    ['data.affected', 'yes'],
    ['data.event.eventId', ''],
    ['data.event.eventType', null],
    ['data.event.resources', 'WestNO_0'],
    ['data.event.resources', [1]],
    ['data.event.notBefore', 'Tue, 10 Nov 2026 22:26:58 GMT'],
    ['data.event.durationSeconds', -1],
    ['data.event.description', 5],
    ['data.previous', null],
    ['data.timeline.scheduled', 'yesterday'],
    ['data.noticeSeconds', 1.5],
    ['data.document.incarnation', 2],
    ['data.observer.vmId', 7],
    ['data.clock.pollGapMs', -1],
    ['data.agent.sequence', '42'],
  ])('an event record whose %s is %j', (path, value) => {
    expect(faultsIn(record, changed(sampleRecord(), path, value))).not.toEqual([]);
  });

  it.each(['data.observer', 'data.agent', 'data.agent.sequence', 'data.test', 'data.sink'])(
    'a test of a sink without %s',
    (path) => {
      const test = agentRecord('test', storyBeginsAt, { test: true, sink: 'ops' }, stamp);
      expect(faultsIn(record, test)).toEqual([]);
      expect(faultsIn(record, changed(test, path, undefined))).not.toEqual([]);
    },
  );

  it.each(sampleDeeds().map((deed, index) => [index, familyOf(deed.type), deed] as const))(
    'deed %i, of family %s, without any of what it says',
    (_, _type, deed) => {
      for (const path of Object.keys(deed.data as object)) {
        expect(faultsIn(record, changed(deed, `data.${path}`, undefined)), path).not.toEqual([]);
      }
    },
  );

  it.each(wrongDeeds.map(([deed, ...wrong]) => [familyOf(deed.type), ...wrong, deed] as const))(
    'a record of family %s whose %s is %j',
    (_, path, value, deed) => {
      expect(faultsIn(record, changed(deed, path, value))).not.toEqual([]);
    },
  );

  it.each(['started', 'heartbeat'] as const)('an agent record that says %s and nothing else', (what) => {
    expect(faultsIn(record, agentRecord(what, storyBeginsAt, {}, stamp))).not.toEqual([]);
  });
});

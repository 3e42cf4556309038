// A trail in PostgreSQL of an earlier version is brought up to date by whoever is first, and a consumer of that version is fenced off.
import { expect, it } from 'vitest';
import { openPostgresReader } from '../../src/audit/postgres/reader.ts';
import { projectionTables } from '../../src/audit/postgres/schema.ts';
import { openPostgresSource } from '../../src/audit/postgres/source.ts';
import { openPostgresTrail } from '../../src/audit/postgres/trail.ts';
import { asHubEvents, eventIdOf, liveMigration } from '../support/synthetic.ts';
import { approving, beating, feeling, hooking } from '../support/synthetic-deeds.ts';
import { append, clean, positionIn } from '../support/trail/world.ts';
import { addLogin, execute, openDatabase, rowsOf, runTrailScript } from './support/postgres.ts';
import { settingsFor } from './support/postgres-world.ts';

/** Makes of a trail one of version 1, in which records about deeds said nothing of events. */
const asVersion1 = [
  'SET session_replication_role = replica',
  'SET search_path = seb',
  'DROP TABLE deed, projected',
  'DROP INDEX observation_at',
  'ALTER TABLE agent DROP COLUMN first_ms',
  `UPDATE event SET state = (state::jsonb #- '{openings}')::text`,
  `UPDATE agent SET state = (state::jsonb #- '{fields,sourceState}' #- '{fields,seen}')::text`,
  `UPDATE observation SET event_id = NULL WHERE type NOT LIKE '%.event.%'`,
  'DELETE FROM version WHERE number = 2',
];

const told = [
  ...[...liveMigration(), 'poison', beating(), approving(), hooking({}, { vm: 1 }), feeling()],
  ...liveMigration(0, 1),
];

async function oldTrail() {
  const database = await openDatabase();
  runTrailScript(database.adminUrl);
  const { url } = await addLogin(database, 'seb_writer');
  const settings = settingsFor(url);
  {
    await using trail = await openPostgresTrail(settings);
    await append(trail, asHubEvents(told));
  }
  const given = await projectionsIn(database.adminUrl);
  await execute(database.adminUrl, asVersion1);
  return { database, settings, given };
}

async function projectionsIn(adminUrl: string): Promise<unknown[]> {
  const tables = [];
  for (const name of projectionTables) {
    tables.push(await rowsOf(adminUrl, `SELECT to_jsonb(t)::text AS row FROM seb.${name} AS t ORDER BY 1`));
  }
  return tables;
}

it('derives anew what the entries give, once, whoever is first, and calls nothing tampered', async () => {
  const { database, settings, given } = await oldTrail();
  await expect(openPostgresTrail(settings)).rejects.toThrow('run infra/postgres/trail.sql as their owner');
  runTrailScript(database.adminUrl);
  for (const open of [openPostgresReader, openPostgresSource]) {
    await expect(open(settings)).rejects.toThrow('"seb consumer" brings it up to date when it next starts');
  }
  const trails = await Promise.all([openPostgresTrail(settings), openPostgresTrail(settings)]);
  await using resources = new AsyncDisposableStack();
  for (const trail of trails) resources.use(trail);
  const [trail] = trails;
  expect(await trail.check()).toEqual(clean(told.length));
  expect(await projectionsIn(database.adminUrl)).toEqual(given);
  await using reader = await openPostgresReader(settings);
  expect((await reader.timeline(eventIdOf(0)))?.deeds).toHaveLength(3);
});

it('refuses what a consumer of the earlier version would add, so that it takes nothing away', async () => {
  const { database, settings } = await oldTrail();
  runTrailScript(database.adminUrl);
  await using trail = await openPostgresTrail(settings);
  const before = await positionIn(trail);
  // The statement with which version 1 wrote an agent.
  const agent = `INSERT INTO seb.agent (agent_id, vm_id, vm_name, resource_id, last_ms, state)
    SELECT agent_id, vm_id, vm_name, resource_id, last_ms, '{}' FROM seb.agent
    ON CONFLICT (seb.key(agent_id)) DO UPDATE SET state = excluded.state`;
  await expect(execute(database.adminUrl, [agent])).rejects.toThrow(/first_ms/);
  expect(await positionIn(trail)).toEqual(before);
  expect(await trail.check()).toEqual(clean(told.length));
});

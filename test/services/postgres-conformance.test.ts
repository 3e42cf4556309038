// The PostgreSQL store does what every store must, as a role that may only add, and prunes as one that may also do that.
import { describe } from 'vitest';
import { keepsALog } from '../support/trail/log.ts';
import { keepsItsOwnStreams } from '../support/trail/own-streams.ts';
import { keepsProjections } from '../support/trail/projections.ts';
import { prunes } from '../support/trail/prune.ts';
import { answersQuestions } from '../support/trail/questions.ts';
import { canBeRead } from '../support/trail/source.ts';
import { openPostgresWorld } from './support/postgres-world.ts';

const asWriter = () => openPostgresWorld('seb_writer');
const asPruner = () => openPostgresWorld('seb_writer', 'seb_pruner');

describe('the log in PostgreSQL', () => keepsALog(asWriter));
describe('what a trail in PostgreSQL says of itself', () => keepsItsOwnStreams(asWriter));
describe('the projections in PostgreSQL', () => keepsProjections(asWriter));
describe('pruning in PostgreSQL', () => prunes(asPruner));
describe('a trail in PostgreSQL at one moment', () => canBeRead(asWriter));
describe('questions to a trail in PostgreSQL', () => answersQuestions(asWriter));

// Clients of two nodes on one PostgreSQL create different plants with the same id at the same time.

import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { makeDatabase, queryPostgres } from '../../testing/postgres.ts';
import { createOver } from '../../testing/request.ts';
import { fault } from '../fault.ts';
import { whyNoPostgres } from '../on-postgres.ts';

const CLIENTS_PER_NODE = 64;

fault({
  name: 'race on an id',
  mark: 'One client wins each id, and the others get 400. One record and one change of the winner are stored.',
  rounds: { short: 12, full: 1000, of: `ids, each requested by ${CLIENTS_PER_NODE} clients on each of two nodes` },
  skip: whyNoPostgres,
  async trial({ t, rounds, random, startServer }) {
    const databaseUrl = await makeDatabase();
    const nodes = await Promise.all([startServer({ databaseUrl }), startServer({ databaseUrl })]); // both run the migrations
    t.after(() => Promise.all(nodes.map((node) => node.kill())));
    const clients = nodes.flatMap((node, at) => {
      const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS_PER_NODE });
      t.after(() => agent.destroy());
      return Array.from({ length: CLIENTS_PER_NODE }, (_, n) => ({ node, agent, name: `client ${n} of node ${at}` }));
    });

    const won: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const id = BigInt.asIntN(64, BigInt(random.below(2 ** 32)) * 2n ** 32n + BigInt(round));
      const inOrder = clients.map((client) => ({ ...client, turn: random() })).sort((a, b) => a.turn - b.turn);
      const answers = await Promise.all(inOrder.map(({ node, agent, name }) => createOver(agent, node, { id, name })));
      const strange = answers.filter((answer) => answer !== 200 && answer !== 400);
      assert.equal(strange.length, 0, `${strange.length} clients that requested ${id} got ${strange[0]}`);
      const winners = inOrder.filter((_, at) => answers[at] === 200);
      assert.equal(winners.length, 1, `${winners.length} clients won ${id} instead of one`);
      won.push(`${id} ${winners[0]?.name}`);
    }
    const log = await queryPostgres(databaseUrl, `SELECT plant_id || ' ' || name AS line FROM changes`);
    const stored = await queryPostgres(databaseUrl, `SELECT id || ' ' || name AS line FROM plants`);
    won.sort();
    assert.deepEqual(stored.map(({ line }) => line).sort(), won, 'the records are not those of the winners');
    assert.deepEqual(log.map(({ line }) => line).sort(), won, 'the changes are not those of the winners');
    const byNode = nodes.map((_, at) => won.filter((line) => line.endsWith(`node ${at}`)).length);
    return `${(rounds * clients.length).toLocaleString('en')} creates, ${won.length} winners (${byNode.join(' on one node, ')} on the other)`;
  },
  controls: {
    "treats another node's record as its own": {
      change: [
        'src/storage/postgres/plants-write.ts',
        '= { present: row.name',
        '= isNew ? { seq: Number((row as PlantRow).seq) } : { present: row.name',
      ],
      caught: /\d clients won/,
    },
    "does not retry after another node's commit": {
      change: ['src/storage/postgres/pg-errors.ts', `  '23505': 'conflict',`, `  '23505': 'bug',`],
      caught: /clients that requested -?\d+ got 500/,
      rounds: 200, // only a race between two commits shows it
    },
  },
});

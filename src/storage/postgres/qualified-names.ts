// The name of everything of ours in the database, with its schema. Statements never find tables or functions through the
// search path: PostgreSQL picks the function or operator that fits best from all schemas of the path, so that any role
// which may create objects in one of them could plant one that runs with our rights.

import pg from 'pg';

/** Schemas to search in every transaction and function of ours: none that another role may create objects in. */
export const SEARCH_PATH = 'pg_catalog, pg_temp';

export const RELATIONS = [
  ...([
    'plant_store_schema',
    'plants',
    'changes',
    'change_numbers',
    'numbering',
    'skipped',
    'copied',
    'words',
  ] as const),
  ...(['tokens', 'old_secrets', 'webhooks', 'deliveries', 'delivery_nodes', 'database_identity'] as const),
] as const;

/** Functions that the migrations create and nodes call, with the types of their arguments. */
const FUNCTIONS = {
  begin_changes_2: [],
  create_plants_2: ['bigint[]', 'text[]', 'text[]', 'bigint[]', 'text[]', 'bigint[]', 'bigint[]'],
  change_plants_2: [
    ...['bigint[]', 'bigint[]', 'text[]', 'text[]', 'text[]', 'bigint[]', 'text[]'],
    ...['bigint[]', 'bigint[]', 'bigint[]', 'bigint[]'],
  ],
  claim_webhooks_2: ['text', 'integer'],
  rotate_token_2: ['text', 'text', 'bigint', 'bigint'],
  skip_change_numbers: [],
  this_database_1: [],
  note_database_1: [],
} satisfies Record<string, string[]>;

export type Tables = Readonly<Record<(typeof RELATIONS)[number], string>>;
export type Calls = Readonly<Record<keyof typeof FUNCTIONS, string>>;

export interface Names {
  schema: string;
  tables: Tables;
  /** A call of each function. `$1` and on are cast to its types, so that no other function of that name fits better. */
  calls: Calls;
  /** Each function as regprocedure reads it. */
  signatures: string[];
}

export function namesIn(schemaName: string): Names {
  const schema = pg.escapeIdentifier(schemaName);
  const functions = Object.entries<string[]>(FUNCTIONS);
  return {
    schema,
    tables: Object.fromEntries(RELATIONS.map((name) => [name, `${schema}.${name}`])) as Tables,
    calls: Object.fromEntries(
      functions.map(([name, types]) => {
        const parameters = types.map((type, at) => `$${at + 1}::${type}`);
        return [name, `${schema}.${name}(${parameters.join(', ')})`];
      }),
    ) as Calls,
    signatures: functions.map(([name, types]) => `${schema}.${name}(${types.join(', ')})`),
  };
}

// Provides the schema-qualified names of all tables and functions. Statements never use the search path for them.
// PostgreSQL selects the best match for a function or operator from all schemas of the path. Any role that can create
// objects in one of them could add a function that runs with the rights of this service.

import pg from 'pg';

/** Search path of all transactions and functions. Other roles cannot create objects in these schemas. */
export const SEARCH_PATH = 'pg_catalog, pg_temp';

export const RELATIONS = [
  ...([
    'plant_store_schema',
    'plants',
    'changes',
    'change_times',
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
  begin_changes_3: [],
  create_plants_3: ['bigint[]', 'text[]', 'text[]', 'text[]', 'bigint[]', 'text[]', 'bigint[]', 'bigint[]'],
  change_plants_3: [
    ...['bigint[]', 'bigint[]', 'text[]', 'text[]', 'text[]', 'text[]', 'bigint[]', 'text[]'],
    ...['bigint[]', 'bigint[]', 'bigint[]', 'bigint[]'],
  ],
  plant_count_1: [],
  claim_webhooks_2: ['text', 'integer'],
  rotate_token_2: ['text', 'text', 'bigint', 'bigint'],
  skip_change_numbers: [],
  this_database_1: [],
  note_database_1: [],
  timeline_1: [],
} satisfies Record<string, string[]>;

export type Tables = Readonly<Record<(typeof RELATIONS)[number], string>>;
export type Calls = Readonly<Record<keyof typeof FUNCTIONS, string>>;

export interface Names {
  schema: string;
  tables: Tables;
  /** A call of each function. It casts all parameters, so that no other function of that name is a better match. */
  calls: Calls;
  /** The signature of each function in the format of regprocedure. */
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

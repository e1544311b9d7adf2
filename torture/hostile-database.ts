// Plants functions and operators in the store's schema, as a role with CREATE on that schema could. PostgreSQL prefers
// them to its own for all names in our SQL. Each one takes a lock as evidence that it ran, and raises an error.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { queryPostgres } from '../testing/postgres.ts';

const ROOT = join(import.meta.dirname, '..');
/** First half of the advisory lock's key. The session that ran the object keeps the lock even after a rollback. */
const PLANTED = 666;

/** Plants the objects as the URL's role. Call it again after the tables exist: their row types are the best match. */
export async function plant(url: string, what: 'functions' | 'all' = 'all'): Promise<number> {
  const { functions, operators } = namesInSql();
  await queryPostgres(url, PLANT_FUNCTIONS);
  const [planted] = await queryPostgres(
    url,
    'SELECT plant_all($1::text[], $2::text[]) AS count',
    functions,
    what === 'all' ? operators : [],
  );
  return Number(planted?.count);
}

/** Returns the planted objects that ran in sessions that are still open. */
export async function listRan(url: string): Promise<string[]> {
  const rows = await queryPostgres(
    url,
    `SELECT DISTINCT p.oid::regprocedure::text AS planted, a.usename
     FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid JOIN pg_proc p ON p.oid::bigint = l.objid::bigint
     WHERE l.locktype = 'advisory' AND l.classid::bigint = ${PLANTED} AND l.objsubid = 2 AND a.usename <> 'gardener'`,
  );
  return rows.map(({ planted, usename }) => `planted ${planted} ran as ${usename}`);
}

/** Returns the function names (words before a parenthesis) and the operators in all SQL of the store. */
function namesInSql(): { functions: string[]; operators: string[] } {
  const files = globSync('src/storage/postgres/**/*.{ts,sql}', { cwd: ROOT }).filter(
    (file) => !file.endsWith('.test.ts'),
  );
  const texts = files.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    if (file.endsWith('.sql')) return text.replace(/--.*/g, '');
    const literals = (text.match(/`[^`]*`|'[^'\n]*'/g) ?? []).map((literal) => literal.slice(1, -1));
    return literals.filter((literal) =>
      /\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|AND|OVER|octet_length)\b/.test(literal),
    );
  });
  const sql = texts.join('\n').replace(/\$\{[^}]*\}|\$\w*\$|'[^'\n]*'/g, ' ');
  const operators = new Set(sql.match(/[-+*/<>=~!@#%^&|?]+/g));
  for (const [word, operator] of [
    ['LIKE', ['~~']],
    ['BETWEEN', ['>=', '<=']],
    ['IN', ['=']],
    ['WHEN', ['=']],
  ] as const) {
    if (sql.includes(` ${word} `)) for (const one of operator) operators.add(one);
  }
  return {
    functions: [...new Set(Array.from(sql.matchAll(/\b([a-z]\w*)\s*\(/g), ([, name]) => name as string))],
    operators: [...operators],
  };
}

/**
 * Copies each pg_catalog function with one of the names. Polymorphic arguments get one copy for each of our types.
 * For each function of the store, it adds a variant with text arguments, the default type of literals and parameters.
 */
const PLANT_FUNCTIONS = `
  CREATE OR REPLACE FUNCTION plant_one(name text, arguments text[], result text) RETURNS integer LANGUAGE plpgsql AS $plant$
  DECLARE
    planted text := pg_catalog.format('public.%I(%s)', name, pg_catalog.array_to_string(arguments, ', '));
    oid bigint;
  BEGIN
    EXECUTE pg_catalog.format('CREATE FUNCTION %s RETURNS %s LANGUAGE plpgsql AS %L', planted, result, 'BEGIN END');
    oid := pg_catalog.to_regprocedure(planted)::oid::bigint;
    EXECUTE pg_catalog.format('CREATE OR REPLACE FUNCTION %s RETURNS %s LANGUAGE plpgsql AS %L', planted, result, pg_catalog.format(
      'BEGIN PERFORM pg_catalog.pg_advisory_lock_shared(${PLANTED}, %s); RAISE EXCEPTION %L, current_user; END',
      oid, 'planted ' || pg_catalog.replace(planted, '%', '%%') || ' ran as %'
    ));
    RETURN 1;
  EXCEPTION WHEN OTHERS THEN
    RETURN 0; -- it already exists, or cannot be created
  END
  $plant$;

  CREATE OR REPLACE FUNCTION plant_all(functions text[], operators text[]) RETURNS integer LANGUAGE plpgsql
  SET search_path = pg_catalog AS $plant$
  DECLARE
    types text[] := ARRAY['bigint', 'integer', 'text', 'jsonb', 'numeric', 'timestamptz', 'interval'];
    rows text[] := ARRAY(
      SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
    );
    found record;
    type text;
    other text;
    symbol text;
    count integer := 0;
  BEGIN
    FOR found IN
      SELECT p.proname, p.pronargs, p.proretset, ARRAY(SELECT t::regtype::text FROM unnest(p.proargtypes) AS t) AS arguments,
        p.prorettype::regtype::text AS result, p.pronamespace = 'public'::regnamespace AS is_ours
      FROM pg_proc p
      WHERE p.prokind IN ('f', 'a', 'w') AND (
        p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY (functions) AND NOT 'internal' = ANY (ARRAY(SELECT t::regtype::text FROM unnest(p.proargtypes) AS t))
        OR p.pronamespace = 'public'::regnamespace AND p.proowner <> current_user::regrole
      )
    LOOP
      IF found.is_ours THEN
        count := count + public.plant_one(found.proname, array_fill('text'::text, ARRAY[found.pronargs]), 'text');
        CONTINUE;
      END IF;
      FOREACH type IN ARRAY types || rows LOOP
        count := count + public.plant_one(
          found.proname,
          ARRAY(
            SELECT CASE
              WHEN a IN ('anyarray', 'anycompatiblearray') THEN type || '[]'
              WHEN a IN ('anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray', '"any"') THEN type
              WHEN a IN ('regclass', 'regprocedure') AND type = 'text' THEN type
              ELSE a
            END FROM unnest(found.arguments) AS a
          ),
          CASE WHEN found.proretset THEN 'SETOF ' ELSE '' END || CASE
            WHEN found.result IN ('anyarray', 'anycompatiblearray') THEN type || '[]'
            WHEN found.result IN ('anyelement', 'anynonarray', 'anycompatible') THEN type
            WHEN found.result = 'record' THEN 'bigint' ELSE found.result
          END
        );
        EXIT WHEN NOT found.arguments && ARRAY[
          'anyarray', 'anycompatiblearray', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray', '"any"',
          'regclass', 'regprocedure'
        ];
      END LOOP;
    END LOOP;
    FOREACH type IN ARRAY types LOOP
      FOREACH other IN ARRAY types LOOP
        PERFORM public.plant_one('planted_operator', ARRAY[type, other], 'boolean');
        FOREACH symbol IN ARRAY operators LOOP
          BEGIN
            EXECUTE format(
              'CREATE OPERATOR public.%s (FUNCTION = public.planted_operator, LEFTARG = %s, RIGHTARG = %s)', symbol, type, other
            );
            count := count + 1;
          EXCEPTION WHEN OTHERS THEN
            NULL; -- it already exists, or the text is not an operator
          END;
        END LOOP;
      END LOOP;
    END LOOP;
    RETURN count;
  END
  $plant$`;

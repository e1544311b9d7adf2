-- works with: 4

-- A node of the version before can call create_plants_2 or change_plants_2 while a migration holds the tables. PostgreSQL
-- then finishes that call with the old body of the function, after the migration: it would store changes without a number
-- of plants and records without the entry for a missing tag. So begin_changes_2, which only old bodies still call, makes
-- the node retry its transaction. The retry calls the new body.

DO $do$ BEGIN EXECUTE pg_catalog.format($migration$

SET LOCAL search_path = pg_catalog, pg_temp;

CREATE FUNCTION %1$I.begin_changes_3() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  PERFORM pg_advisory_xact_lock(x'504c4e54'::bigint);
  IF EXISTS (SELECT FROM %1$I.copied WHERE seq = -1) THEN
    RAISE EXCEPTION 'A copy into this database is not finished' USING ERRCODE = 'object_in_use';
  END IF;
END
$body$;

-- The functions of 0005 stay the same except for this call.
DO $calls$
DECLARE
  definition text;
BEGIN
  FOR definition IN
    SELECT pg_get_functiondef(p.oid) FROM pg_proc p
    WHERE p.pronamespace = %2$L::regnamespace AND p.proname IN ('create_plants_3', 'change_plants_3')
  LOOP
    EXECUTE replace(definition, 'begin_changes_2', 'begin_changes_3');
  END LOOP;
END
$calls$;

CREATE OR REPLACE FUNCTION %1$I.begin_changes_2() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  RAISE EXCEPTION 'The schema was changed during this call' USING ERRCODE = 'serialization_failure';
END
$body$;

$migration$, CURRENT_SCHEMA, pg_catalog.quote_ident(CURRENT_SCHEMA)); END $do$;

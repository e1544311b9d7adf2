-- works with: 1

DO $do$ BEGIN EXECUTE pg_catalog.format($migration$

SET LOCAL search_path = pg_catalog, pg_temp;

-- The timeline in which numbers were last given, or NULL if the role cannot read it. A promoted standby starts another one, as
-- does a server that was restored to an earlier time. Both may lack changes that readers have seen.
ALTER TABLE %1$I.numbering ADD COLUMN timeline text COLLATE "C";

CREATE FUNCTION %1$I.timeline_1() RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  RETURN left(pg_walfile_name(pg_current_wal_lsn()), 8); -- pg_control_checkpoint() changes only with the next checkpoint
EXCEPTION WHEN OTHERS THEN
  RETURN NULL; -- a standby, or a provider that does not let us read it
END
$body$;

UPDATE %1$I.numbering SET timeline = %1$I.timeline_1();

-- As before, with a random count of at most 1/1024 of the numbers that are left instead of 1/64, since each failover skips
-- numbers: after 16,000 failovers, some are left.
CREATE OR REPLACE FUNCTION %1$I.skip_change_numbers() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  given bigint;
  up_to bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(x'504c4e54'::bigint);
  given := (
    SELECT greatest(pruned_to, (SELECT max(seq) FROM %1$I.changes), (SELECT max(last) FROM %1$I.skipped))
    FROM %1$I.numbering
  );
  up_to := given + 1000000000
    + ('x' || right(replace(gen_random_uuid()::text, '-', ''), 15))::bit(60)::bigint %% ((9007199254740992 - given) / 1024 + 1);
  IF up_to >= 9007199254740992 THEN
    RAISE EXCEPTION 'No change numbers are left to skip' USING ERRCODE = 'program_limit_exceeded';
  END IF;
  INSERT INTO %1$I.skipped VALUES (given + 1, up_to);
  RETURN setval(%2$L, up_to);
END
$body$;

-- Skips numbers if this database is a copy, or if its timeline is another one. Nodes call it when they start, and the functions
-- below before the first number of a timeline.
CREATE OR REPLACE FUNCTION %1$I.note_database_1() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  this text := %1$I.this_database_1();
  here text := %1$I.timeline_1();
BEGIN
  PERFORM pg_advisory_xact_lock(x'504c4e54'::bigint);
  IF EXISTS (
    SELECT FROM %1$I.database_identity i, %1$I.numbering n WHERE i.identity = this AND n.timeline IS NOT DISTINCT FROM here
  ) THEN
    RETURN; -- another node was first
  END IF;
  IF EXISTS (SELECT FROM %1$I.database_identity) OR EXISTS (SELECT FROM %1$I.changes)
    OR EXISTS (SELECT FROM %1$I.skipped) OR EXISTS (SELECT FROM %1$I.numbering n WHERE n.pruned_to > 0) THEN
    PERFORM %1$I.skip_change_numbers();
  END IF;
  DELETE FROM %1$I.database_identity;
  INSERT INTO %1$I.database_identity VALUES (this);
  UPDATE %1$I.numbering SET timeline = here;
END
$body$;

CREATE OR REPLACE FUNCTION %1$I.begin_changes_3() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  noted_timeline text;
BEGIN
  PERFORM pg_advisory_xact_lock(x'504c4e54'::bigint);
  IF EXISTS (SELECT FROM %1$I.copied WHERE seq = -1) THEN
    RAISE EXCEPTION 'A copy into this database is not finished' USING ERRCODE = 'object_in_use';
  END IF;
  noted_timeline := (SELECT n.timeline FROM %1$I.numbering n);
  IF noted_timeline IS NOT NULL THEN -- in an IF of its own: PostgreSQL checks the right to call functions in advance
    IF noted_timeline <> left(pg_walfile_name(pg_current_wal_lsn()), 8) THEN
      PERFORM %1$I.note_database_1();
    END IF;
  END IF;
END
$body$;

-- As before, and with less CPU time: `unnest` in a list of columns stores no intermediate rows, as it does in FROM, and the
-- statements of begin_changes_3 and plant_count_1 are here, because a call of each takes 20 µs.
CREATE OR REPLACE FUNCTION %1$I.create_plants_3(
  ids bigint[], names text[], sort_names text[], tags text[], times bigint[], token_ids text[], words bigint[], word_ids bigint[]
)
RETURNS TABLE (seqs bigint[], n integer, name text, tag text, created bigint, updated bigint, seq bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $body$
#variable_conflict use_column
DECLARE
  taken bigint[] := ARRAY(SELECT p.id FROM %1$I.plants p WHERE p.id = ANY (ids));
  made bigint[];
  plants_before bigint;
  noted_timeline text;
  locked text;
  count_less_seq bigint; -- of every change, because a call takes consecutive numbers
BEGIN
  IF cardinality(taken) > 0 THEN
    RETURN QUERY
      SELECT NULL::bigint[], sent.n::integer, p.name, p.tag, p.created, p.updated, p.seq
      FROM unnest(ids) WITH ORDINALITY AS sent (id, n) JOIN %1$I.plants p ON p.id = sent.id
      WHERE p.id = ANY (taken);
    PERFORM pg_logical_emit_message(true, 'plant_store', '');
  END IF;
  IF cardinality(taken) < cardinality(ids) THEN
    BEGIN
      INSERT INTO %1$I.words (word, id)
        SELECT sent.word, sent.id FROM (SELECT unnest(words) AS word, unnest(word_ids) AS id) AS sent
        WHERE sent.id <> ALL (taken);
    EXCEPTION WHEN unique_violation THEN
      IF EXISTS (SELECT FROM %1$I.plants p WHERE p.id = ANY (ids) AND p.id <> ALL (taken)) THEN
        RAISE;
      END IF;
      INSERT INTO %1$I.words (word, id)
        SELECT sent.word, sent.id FROM (SELECT unnest(words) AS word, unnest(word_ids) AS id) AS sent
        WHERE sent.id <> ALL (taken)
        ON CONFLICT DO NOTHING;
    END;
    locked := pg_advisory_xact_lock(x'504c4e54'::bigint); -- a fifth of the CPU time of PERFORM
    SELECT coalesce((SELECT c.plant_count FROM %1$I.changes c ORDER BY c.seq DESC LIMIT 1), n.plant_count), n.timeline
      INTO plants_before, noted_timeline FROM %1$I.numbering n WHERE NOT EXISTS (SELECT FROM %1$I.copied WHERE seq = -1);
    IF NOT FOUND THEN
      RAISE EXCEPTION 'A copy into this database is not finished' USING ERRCODE = 'object_in_use';
    END IF;
    IF noted_timeline IS NOT NULL THEN
      IF noted_timeline <> left(pg_walfile_name(pg_current_wal_lsn()), 8) THEN
        PERFORM %1$I.note_database_1();
      END IF;
    END IF;
    made := ARRAY(
      SELECT CASE WHEN sent.id <> ALL (taken) THEN nextval(%2$L) END FROM (SELECT unnest(ids) AS id) AS sent
    );
    count_less_seq := plants_before + cardinality(ids) - cardinality(taken) - currval(%2$L);
    INSERT INTO %1$I.plants (id, name, sort_name, tag, created, updated, seq)
      SELECT sent.id, sent.name, sent.sort_name, sent.tag, sent.time, sent.time, sent.seq
      FROM (
        SELECT unnest(ids) AS id, unnest(names) AS name, unnest(sort_names) AS sort_name, unnest(tags) AS tag,
          unnest(times) AS time, unnest(made) AS seq
      ) AS sent
      WHERE sent.seq IS NOT NULL;
    INSERT INTO %1$I.changes (seq, type, time, plant_id, name, tag, token_id, plant_count)
      SELECT sent.seq, 'plant.created', sent.time, sent.id, sent.name, sent.tag, sent.token_id, sent.seq + count_less_seq
      FROM (
        SELECT unnest(made) AS seq, unnest(times) AS time, unnest(ids) AS id, unnest(names) AS name, unnest(tags) AS tag,
          unnest(token_ids) AS token_id
      ) AS sent
      WHERE sent.seq IS NOT NULL;
  END IF;
  seqs := made;
  RETURN NEXT;
END
$body$;

$migration$, CURRENT_SCHEMA, pg_catalog.format('%I.change_numbers', CURRENT_SCHEMA)); END $do$;

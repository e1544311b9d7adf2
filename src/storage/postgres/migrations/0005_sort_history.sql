-- works with: 4

DO $do$ BEGIN EXECUTE pg_catalog.format($migration$

SET LOCAL search_path = pg_catalog, pg_temp;

-- The folded name, if it is not simply the name in small ASCII letters. NULL otherwise, and in a record that a node of
-- the version before has written: such a name is in plants_without_key until a node of this version adds it.
ALTER TABLE %1$I.plants ADD COLUMN sort_name text COLLATE "C";
CREATE INDEX plants_by_name ON %1$I.plants (left(coalesce(sort_name, lower(name)), 500), id);
CREATE INDEX plants_without_key ON %1$I.plants (id) WHERE sort_name IS NULL AND octet_length(name) <> length(name);
CREATE INDEX plants_by_updated ON %1$I.plants (updated, id);

-- The number of the change that made the replaced or deleted version, and the number of plants after the change. Both
-- are NULL for a create and in changes from before this migration, in that order.
ALTER TABLE %1$I.changes ADD COLUMN previous bigint;
ALTER TABLE %1$I.changes ADD COLUMN plant_count bigint;
UPDATE %1$I.changes c SET previous = known.previous FROM (
  SELECT o.seq, lag(o.seq) OVER (PARTITION BY o.plant_id ORDER BY o.seq) AS previous FROM %1$I.changes o
  WHERE o.plant_id IN (SELECT u.plant_id FROM %1$I.changes u WHERE u.type <> 'plant.created')
) AS known
WHERE known.seq = c.seq AND c.type <> 'plant.created' AND known.previous IS NOT NULL;

-- The number of plants if no change has one.
ALTER TABLE %1$I.numbering ADD COLUMN plant_count bigint NOT NULL DEFAULT 0;
UPDATE %1$I.numbering SET plant_count = (SELECT count(*) FROM %1$I.plants);

-- Plants without a tag have an entry of their own in the index `words`, as a tag has.
INSERT INTO %1$I.words (word, id)
  SELECT 9079256848778919937, p.id FROM %1$I.plants p WHERE p.tag IS NULL ON CONFLICT DO NOTHING;

-- As begin_changes_2 was until now.
CREATE FUNCTION %1$I.begin_changes_3() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  PERFORM pg_advisory_xact_lock(x'504c4e54'::bigint);
  IF EXISTS (SELECT FROM %1$I.copied WHERE seq = -1) THEN
    RAISE EXCEPTION 'A copy into this database is not finished' USING ERRCODE = 'object_in_use';
  END IF;
END
$body$;

-- The number of plants. Call it with the lock of begin_changes_3.
CREATE FUNCTION %1$I.plant_count_1() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  RETURN coalesce(
    (SELECT c.plant_count FROM %1$I.changes c ORDER BY c.seq DESC LIMIT 1),
    (SELECT n.plant_count FROM %1$I.numbering n)
  );
END
$body$;

-- As create_plants_2, with the folded names, the previous version and the number of plants.
CREATE FUNCTION %1$I.create_plants_3(
  ids bigint[], names text[], sort_names text[], tags text[], times bigint[], token_ids text[], words bigint[], word_ids bigint[]
)
RETURNS TABLE (seqs bigint[], n integer, name text, tag text, created bigint, updated bigint, seq bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $body$
#variable_conflict use_column
DECLARE
  taken bigint[] := ARRAY(SELECT p.id FROM %1$I.plants p WHERE p.id = ANY (ids));
  made bigint[];
  plants_before bigint;
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
        SELECT sent.word, sent.id FROM unnest(words, word_ids) AS sent (word, id)
        WHERE sent.id <> ALL (taken);
    EXCEPTION WHEN unique_violation THEN
      IF EXISTS (SELECT FROM %1$I.plants p WHERE p.id = ANY (ids) AND p.id <> ALL (taken)) THEN
        RAISE;
      END IF;
      INSERT INTO %1$I.words (word, id)
        SELECT sent.word, sent.id FROM unnest(words, word_ids) AS sent (word, id)
        WHERE sent.id <> ALL (taken)
        ON CONFLICT DO NOTHING;
    END;
    PERFORM %1$I.begin_changes_3();
    plants_before := %1$I.plant_count_1();
    made := ARRAY(
      SELECT CASE WHEN sent.id <> ALL (taken) THEN nextval(%2$L) END FROM unnest(ids) AS sent (id)
    );
    WITH sent AS MATERIALIZED (
      SELECT *, plants_before + row_number() OVER (ORDER BY sent.seq) AS plant_count
      FROM unnest(ids, names, sort_names, tags, times, made, token_ids) AS sent (id, name, sort_name, tag, time, seq, token_id)
      WHERE sent.seq IS NOT NULL
    ), stored AS (
      INSERT INTO %1$I.plants (id, name, sort_name, tag, created, updated, seq)
      SELECT sent.id, sent.name, sent.sort_name, sent.tag, sent.time, sent.time, sent.seq FROM sent
    )
    INSERT INTO %1$I.changes (seq, type, time, plant_id, name, tag, token_id, plant_count)
      SELECT sent.seq, 'plant.created', sent.time, sent.id, sent.name, sent.tag, sent.token_id, sent.plant_count FROM sent;
  END IF;
  RETURN QUERY
    SELECT made, NULL::integer, NULL::text, NULL::text, NULL::bigint, NULL::bigint, NULL::bigint;
END
$body$;

-- As change_plants_2, with the folded names, the previous version and the number of plants.
CREATE FUNCTION %1$I.change_plants_3(
  ids bigint[], expected bigint[], does text[], names text[], sort_names text[], tags text[], times bigint[], token_ids text[],
  old_words bigint[], old_word_ids bigint[], new_words bigint[], new_word_ids bigint[]
)
RETURNS TABLE (seqs bigint[], n integer, name text, tag text, created bigint, updated bigint, seq bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $body$
#variable_conflict use_column
DECLARE
  held bigint[];
  made bigint[];
  plants_before bigint;
BEGIN
  PERFORM FROM %1$I.plants p WHERE p.id = ANY (ids) ORDER BY p.id FOR UPDATE;
  held := ARRAY(
    SELECT p.id FROM unnest(ids, expected) AS sent (id, seq) JOIN %1$I.plants p ON p.id = sent.id WHERE p.seq = sent.seq
  );
  RETURN QUERY
    SELECT NULL::bigint[], sent.n::integer, p.name, p.tag, p.created, p.updated, p.seq
    FROM unnest(ids) WITH ORDINALITY AS sent (id, n) LEFT JOIN %1$I.plants p ON p.id = sent.id
    WHERE sent.id <> ALL (held);
  DELETE FROM %1$I.words w USING unnest(old_words, old_word_ids) AS sent (word, id)
    WHERE w.word = sent.word AND w.id = sent.id AND sent.id = ANY (held);
  INSERT INTO %1$I.words (word, id)
    SELECT sent.word, sent.id FROM unnest(new_words, new_word_ids) AS sent (word, id)
    WHERE sent.id = ANY (held)
    ON CONFLICT DO NOTHING;
  PERFORM %1$I.begin_changes_3();
  plants_before := %1$I.plant_count_1();
  made := ARRAY(
    SELECT CASE WHEN sent.does <> 'keep' AND sent.id = ANY (held) THEN nextval(%2$L) END
    FROM unnest(ids, does) AS sent (id, does)
  );
  UPDATE %1$I.plants p SET name = sent.name, sort_name = sent.sort_name, tag = sent.tag, updated = sent.time, seq = sent.seq
    FROM unnest(ids, does, names, sort_names, tags, times, made) AS sent (id, does, name, sort_name, tag, time, seq)
    WHERE p.id = sent.id AND sent.seq IS NOT NULL AND sent.does = 'store';
  DELETE FROM %1$I.plants p USING unnest(ids, does, made) AS sent (id, does, seq)
    WHERE p.id = sent.id AND sent.seq IS NOT NULL AND sent.does = 'delete';
  INSERT INTO %1$I.changes (seq, type, time, plant_id, name, tag, token_id, previous, plant_count)
    SELECT sent.seq, CASE sent.does WHEN 'delete' THEN 'plant.deleted' ELSE 'plant.updated' END,
      sent.time, sent.id, sent.name, sent.tag, sent.token_id, sent.previous,
      plants_before - count(*) FILTER (WHERE sent.does = 'delete') OVER (ORDER BY sent.seq)
    FROM unnest(ids, expected, does, names, tags, times, made, token_ids)
      AS sent (id, previous, does, name, tag, time, seq, token_id)
    WHERE sent.seq IS NOT NULL;
  RETURN QUERY
    SELECT made, NULL::integer, NULL::text, NULL::text, NULL::bigint, NULL::bigint, NULL::bigint;
END
$body$;

-- Nodes of the version before call these. They do not know folded names and the entry for a missing tag.

CREATE OR REPLACE FUNCTION %1$I.create_plants_2(
  ids bigint[], names text[], tags text[], times bigint[], token_ids text[], words bigint[], word_ids bigint[]
)
RETURNS TABLE (seqs bigint[], n integer, name text, tag text, created bigint, updated bigint, seq bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
#variable_conflict use_column
DECLARE
  untagged bigint[] := ARRAY(SELECT sent.id FROM unnest(ids, tags) AS sent (id, tag) WHERE sent.tag IS NULL ORDER BY sent.id);
BEGIN
  RETURN QUERY SELECT * FROM %1$I.create_plants_3(
    ids, names, array_fill(NULL::text, ARRAY[cardinality(ids)]), tags, times, token_ids,
    words || array_fill(9079256848778919937, ARRAY[cardinality(untagged)]), word_ids || untagged
  );
END
$body$;

CREATE OR REPLACE FUNCTION %1$I.change_plants_2(
  ids bigint[], expected bigint[], does text[], names text[], tags text[], times bigint[], token_ids text[],
  old_words bigint[], old_word_ids bigint[], new_words bigint[], new_word_ids bigint[]
)
RETURNS TABLE (seqs bigint[], n integer, name text, tag text, created bigint, updated bigint, seq bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
#variable_conflict use_column
DECLARE
  tagged bigint[] := ARRAY(
    SELECT sent.id FROM unnest(ids, does, tags) AS sent (id, does, tag)
    WHERE sent.does = 'delete' OR sent.does = 'store' AND sent.tag IS NOT NULL ORDER BY sent.id
  );
  untagged bigint[] := ARRAY(
    SELECT sent.id FROM unnest(ids, does, tags) AS sent (id, does, tag)
    WHERE sent.does = 'store' AND sent.tag IS NULL ORDER BY sent.id
  );
BEGIN
  RETURN QUERY SELECT * FROM %1$I.change_plants_3(
    ids, expected, does, names, array_fill(NULL::text, ARRAY[cardinality(ids)]), tags, times, token_ids,
    old_words || array_fill(9079256848778919937, ARRAY[cardinality(tagged)]), old_word_ids || tagged,
    new_words || array_fill(9079256848778919937, ARRAY[cardinality(untagged)]), new_word_ids || untagged
  );
END
$body$;

-- A node of the version before can call create_plants_2 or change_plants_2 while this migration holds the tables. PostgreSQL
-- then finishes that call with the old body of the function, after the migration: it would store changes without a number
-- of plants and records without the entry for a missing tag. So begin_changes_2, which only old bodies still call, makes
-- the node retry its transaction. The retry calls the new body.
CREATE OR REPLACE FUNCTION %1$I.begin_changes_2() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  RAISE EXCEPTION 'The schema was changed during this call' USING ERRCODE = 'serialization_failure';
END
$body$;

-- Only nodes of versions before 0004 call these. They would write changes without a number of plants.
DROP FUNCTION %1$I.create_plants_1(bigint[], text[], text[], bigint[], text[], bigint[], bigint[]);
DROP FUNCTION %1$I.change_plants_1(
  bigint[], bigint[], text[], text[], text[], bigint[], text[], bigint[], bigint[], bigint[], bigint[]
);
DROP FUNCTION %1$I.begin_changes_1();

$migration$, CURRENT_SCHEMA, pg_catalog.format('%I.change_numbers', CURRENT_SCHEMA)); END $do$;

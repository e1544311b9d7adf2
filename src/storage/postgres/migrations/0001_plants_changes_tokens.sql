-- works with: 1

-- Times are milliseconds since 1970, UTC. Texts are compared by their bytes, as in every other database of ours.

CREATE TABLE plants (
  id bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  tag text COLLATE "C",
  created bigint NOT NULL,
  updated bigint NOT NULL,
  seq bigint NOT NULL -- the change that made this version: its ETag
);

CREATE TABLE changes (
  seq bigint PRIMARY KEY,
  type text COLLATE "C" NOT NULL,
  time bigint NOT NULL,
  plant_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  tag text COLLATE "C",
  token_id text COLLATE "C" NOT NULL
);

-- Taken from only by who holds the lock of the functions below until its commit: so numbers are committed in order.
CREATE SEQUENCE change_numbers;
-- Changes up to this number were removed; those in between were skipped. Neither is given again.
CREATE TABLE numbering (pruned_to bigint NOT NULL);
INSERT INTO numbering VALUES (0);
CREATE TABLE skipped (first bigint NOT NULL, last bigint NOT NULL);

-- To be called after a backup was restored: whoever follows the log, or holds an ETag, may have seen numbers that the
-- backup does not know. Far more are skipped than can have been given since.
CREATE FUNCTION skip_change_numbers() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(x'504c4e54'::bigint);
  INSERT INTO skipped
    SELECT last + 1, last + 1000000000 FROM (
      SELECT greatest(pruned_to, (SELECT max(seq) FROM changes), (SELECT max(last) FROM skipped)) AS last FROM numbering
    ) AS known;
  RETURN setval('change_numbers', (SELECT max(last) FROM skipped));
END
$$;

-- One row where all this was copied from another store: the last change that was, or -1 while the copy is under way,
-- and by which run.
CREATE TABLE copied (seq bigint NOT NULL, run text COLLATE "C" NOT NULL);

-- Serves both filters of a list, words and tag, in the order of ids. A word is the number that its first eight bytes
-- make, which search.ts explains: half as dear to store as a text.
CREATE TABLE words (
  word bigint NOT NULL,
  id bigint NOT NULL,
  PRIMARY KEY (word, id)
);

CREATE TABLE tokens (
  id text COLLATE "C" PRIMARY KEY,
  secret_hash text COLLATE "C" NOT NULL UNIQUE, -- SHA-256 in hex; the secret is kept nowhere
  name text COLLATE "C" NOT NULL,
  scopes text COLLATE "C" NOT NULL, -- separated by spaces
  created bigint NOT NULL,
  expires bigint,
  revoked bigint
);

-- A batch of writes is one call. The n-th write is the n-th element of each array, and no id comes twice. The answer
-- has one row with `seqs`: the number of the change that each write made, or null; and one row for each write that
-- found something else than it expected, with its `n` and what is there.
--
-- Words come by ascending id and word, so that two calls that want the same do not wait for each other.
--
-- The lock is taken as late as can be and held until the commit: whoever sees a number sees all below it. A call that
-- changed nothing, but tells what is there, still waits until that is as safe as its own commit.
--
-- The settings are for plans that were made while the tables were empty.

CREATE FUNCTION begin_changes_1() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(x'504c4e54'::bigint);
  IF EXISTS (SELECT FROM copied WHERE seq = -1) THEN
    RAISE EXCEPTION 'A copy into this database is not finished' USING ERRCODE = 'object_in_use';
  END IF;
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END
$$;

-- For ids that are expected to be free. One that is taken in the meantime is a unique_violation: call it again.
CREATE FUNCTION create_plants_1(
  ids bigint[], names text[], tags text[], times bigint[], token_ids text[], words bigint[], word_ids bigint[]
)
RETURNS TABLE (seqs bigint[], n integer, name text, tag text, created bigint, updated bigint, seq bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  taken bigint[] := ARRAY(SELECT p.id FROM plants p WHERE p.id = ANY (ids));
  made bigint[];
BEGIN
  IF cardinality(taken) > 0 THEN
    RETURN QUERY
      SELECT NULL::bigint[], sent.n::integer, p.name, p.tag, p.created, p.updated, p.seq
      FROM unnest(ids) WITH ORDINALITY AS sent (id, n) JOIN plants p ON p.id = sent.id
      WHERE p.id = ANY (taken);
    PERFORM pg_logical_emit_message(true, 'plant_store', '');
  END IF;
  IF cardinality(taken) < cardinality(ids) THEN
    INSERT INTO words (word, id)
      SELECT sent.word, sent.id FROM unnest(words, word_ids) AS sent (word, id)
      WHERE sent.id <> ALL (taken);
    PERFORM begin_changes_1();
    made := ARRAY(
      SELECT CASE WHEN sent.id <> ALL (taken) THEN nextval('change_numbers') END FROM unnest(ids) AS sent (id)
    );
    WITH sent AS MATERIALIZED (
      SELECT * FROM unnest(ids, names, tags, times, made, token_ids) AS sent (id, name, tag, time, seq, token_id)
      WHERE sent.seq IS NOT NULL
    ), stored AS (
      INSERT INTO plants (id, name, tag, created, updated, seq)
      SELECT sent.id, sent.name, sent.tag, sent.time, sent.time, sent.seq FROM sent
    )
    INSERT INTO changes (seq, type, time, plant_id, name, tag, token_id)
      SELECT sent.seq, 'plant.created', sent.time, sent.id, sent.name, sent.tag, sent.token_id FROM sent;
  END IF;
  RETURN QUERY
    SELECT made, NULL::integer, NULL::text, NULL::text, NULL::bigint, NULL::bigint, NULL::bigint;
END
$$;

-- For records that are expected at a version: `does` is store (name and tag are new), delete or keep. What is not
-- there at all is told with a name of null.
CREATE FUNCTION change_plants_1(
  ids bigint[], expected bigint[], does text[], names text[], tags text[], times bigint[], token_ids text[],
  old_words bigint[], old_word_ids bigint[], new_words bigint[], new_word_ids bigint[]
)
RETURNS TABLE (seqs bigint[], n integer, name text, tag text, created bigint, updated bigint, seq bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  held bigint[];
  made bigint[];
BEGIN
  PERFORM FROM plants p WHERE p.id = ANY (ids) ORDER BY p.id FOR UPDATE;
  held := ARRAY(
    SELECT p.id FROM unnest(ids, expected) AS sent (id, seq) JOIN plants p ON p.id = sent.id WHERE p.seq = sent.seq
  );
  RETURN QUERY
    SELECT NULL::bigint[], sent.n::integer, p.name, p.tag, p.created, p.updated, p.seq
    FROM unnest(ids) WITH ORDINALITY AS sent (id, n) LEFT JOIN plants p ON p.id = sent.id
    WHERE sent.id <> ALL (held);
  DELETE FROM words w USING unnest(old_words, old_word_ids) AS sent (word, id)
    WHERE w.word = sent.word AND w.id = sent.id AND sent.id = ANY (held);
  INSERT INTO words (word, id)
    SELECT sent.word, sent.id FROM unnest(new_words, new_word_ids) AS sent (word, id)
    WHERE sent.id = ANY (held);
  PERFORM begin_changes_1();
  made := ARRAY(
    SELECT CASE WHEN sent.does <> 'keep' AND sent.id = ANY (held) THEN nextval('change_numbers') END
    FROM unnest(ids, does) AS sent (id, does)
  );
  UPDATE plants p SET name = sent.name, tag = sent.tag, updated = sent.time, seq = sent.seq
    FROM unnest(ids, does, names, tags, times, made) AS sent (id, does, name, tag, time, seq)
    WHERE p.id = sent.id AND sent.seq IS NOT NULL AND sent.does = 'store';
  DELETE FROM plants p USING unnest(ids, does, made) AS sent (id, does, seq)
    WHERE p.id = sent.id AND sent.seq IS NOT NULL AND sent.does = 'delete';
  INSERT INTO changes (seq, type, time, plant_id, name, tag, token_id)
    SELECT sent.seq, CASE sent.does WHEN 'delete' THEN 'plant.deleted' ELSE 'plant.updated' END,
      sent.time, sent.id, sent.name, sent.tag, sent.token_id
    FROM unnest(ids, does, names, tags, times, made, token_ids) AS sent (id, does, name, tag, time, seq, token_id)
    WHERE sent.seq IS NOT NULL;
  RETURN QUERY
    SELECT made, NULL::integer, NULL::text, NULL::text, NULL::bigint, NULL::bigint, NULL::bigint;
END
$$;

-- works with: 1

-- New versions of every function: each sets the search path to schemas in which no other role can create objects, and names
-- every table and function of ours with its schema (%1$I; %2$L is the sequence change_numbers). Nothing that another
-- role creates in our schema can run in their place.

DO $do$ BEGIN EXECUTE pg_catalog.format($migration$

SET LOCAL search_path = pg_catalog, pg_temp;

-- Skips at least a billion numbers, and a random count besides: two copies of one database that both skip do not meet
-- again. Nodes call it through note_database_1. Call it by hand after restoring this database server to an earlier point
-- in time, and after a failover to a standby that was behind.
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
  -- Numbers stay below 2^53, so that every reader of JSON keeps them exact. The last 15 digits of the UUID are random.
  up_to := given + 1000000000
    + ('x' || right(replace(gen_random_uuid()::text, '-', ''), 15))::bit(60)::bigint %% ((9007199254740992 - given) / 64 + 1);
  IF up_to >= 9007199254740992 THEN
    RAISE EXCEPTION 'No change numbers are left to skip' USING ERRCODE = 'program_limit_exceeded';
  END IF;
  INSERT INTO %1$I.skipped VALUES (given + 1, up_to);
  RETURN setval(%2$L, up_to);
END
$body$;

-- One row: the database that numbers were last given in, as this_database_1 names it. It differs in a copy that was made
-- from a dump or as CREATE DATABASE … TEMPLATE, and stays the same in a physical standby.
CREATE TABLE %1$I.database_identity (identity text COLLATE "C" NOT NULL);

CREATE FUNCTION %1$I.this_database_1() RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  cluster text;
BEGIN
  BEGIN
    cluster := (SELECT system_identifier FROM pg_control_system());
  EXCEPTION WHEN OTHERS THEN
    cluster := 'sequence ' || %2$L::regclass::oid; -- not every provider lets us read it
  END;
  RETURN cluster || ' database ' || (SELECT d.oid FROM pg_database d WHERE d.datname = current_database());
END
$body$;

-- Skips numbers if this database is a copy, or if it has given numbers before identities were kept.
CREATE FUNCTION %1$I.note_database_1() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  this text := %1$I.this_database_1();
BEGIN
  PERFORM pg_advisory_xact_lock(x'504c4e54'::bigint);
  IF EXISTS (SELECT FROM %1$I.database_identity i WHERE i.identity = this) THEN
    RETURN; -- another node was first
  END IF;
  IF EXISTS (SELECT FROM %1$I.database_identity) OR EXISTS (SELECT FROM %1$I.changes)
    OR EXISTS (SELECT FROM %1$I.skipped) OR EXISTS (SELECT FROM %1$I.numbering n WHERE n.pruned_to > 0) THEN
    PERFORM %1$I.skip_change_numbers();
  END IF;
  DELETE FROM %1$I.database_identity;
  INSERT INTO %1$I.database_identity VALUES (this);
END
$body$;

-- The node sets synchronous_commit before it calls, for every write alike.
CREATE FUNCTION %1$I.begin_changes_2() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  PERFORM pg_advisory_xact_lock(x'504c4e54'::bigint);
  IF EXISTS (SELECT FROM %1$I.copied WHERE seq = -1) THEN
    RAISE EXCEPTION 'A copy into this database is not finished' USING ERRCODE = 'object_in_use';
  END IF;
END
$body$;

-- Nodes of the version before index long names otherwise: a word that is still there from them is no conflict. For
-- creates, ON CONFLICT comes second, since it takes half as long again for every word.

CREATE FUNCTION %1$I.create_plants_2(
  ids bigint[], names text[], tags text[], times bigint[], token_ids text[], words bigint[], word_ids bigint[]
)
RETURNS TABLE (seqs bigint[], n integer, name text, tag text, created bigint, updated bigint, seq bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $body$
#variable_conflict use_column
DECLARE
  taken bigint[] := ARRAY(SELECT p.id FROM %1$I.plants p WHERE p.id = ANY (ids));
  made bigint[];
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
    PERFORM %1$I.begin_changes_2();
    made := ARRAY(
      SELECT CASE WHEN sent.id <> ALL (taken) THEN nextval(%2$L) END FROM unnest(ids) AS sent (id)
    );
    WITH sent AS MATERIALIZED (
      SELECT * FROM unnest(ids, names, tags, times, made, token_ids) AS sent (id, name, tag, time, seq, token_id)
      WHERE sent.seq IS NOT NULL
    ), stored AS (
      INSERT INTO %1$I.plants (id, name, tag, created, updated, seq)
      SELECT sent.id, sent.name, sent.tag, sent.time, sent.time, sent.seq FROM sent
    )
    INSERT INTO %1$I.changes (seq, type, time, plant_id, name, tag, token_id)
      SELECT sent.seq, 'plant.created', sent.time, sent.id, sent.name, sent.tag, sent.token_id FROM sent;
  END IF;
  RETURN QUERY
    SELECT made, NULL::integer, NULL::text, NULL::text, NULL::bigint, NULL::bigint, NULL::bigint;
END
$body$;

CREATE FUNCTION %1$I.change_plants_2(
  ids bigint[], expected bigint[], does text[], names text[], tags text[], times bigint[], token_ids text[],
  old_words bigint[], old_word_ids bigint[], new_words bigint[], new_word_ids bigint[]
)
RETURNS TABLE (seqs bigint[], n integer, name text, tag text, created bigint, updated bigint, seq bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $body$
#variable_conflict use_column
DECLARE
  held bigint[];
  made bigint[];
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
  PERFORM %1$I.begin_changes_2();
  made := ARRAY(
    SELECT CASE WHEN sent.does <> 'keep' AND sent.id = ANY (held) THEN nextval(%2$L) END
    FROM unnest(ids, does) AS sent (id, does)
  );
  UPDATE %1$I.plants p SET name = sent.name, tag = sent.tag, updated = sent.time, seq = sent.seq
    FROM unnest(ids, does, names, tags, times, made) AS sent (id, does, name, tag, time, seq)
    WHERE p.id = sent.id AND sent.seq IS NOT NULL AND sent.does = 'store';
  DELETE FROM %1$I.plants p USING unnest(ids, does, made) AS sent (id, does, seq)
    WHERE p.id = sent.id AND sent.seq IS NOT NULL AND sent.does = 'delete';
  INSERT INTO %1$I.changes (seq, type, time, plant_id, name, tag, token_id)
    SELECT sent.seq, CASE sent.does WHEN 'delete' THEN 'plant.deleted' ELSE 'plant.updated' END,
      sent.time, sent.id, sent.name, sent.tag, sent.token_id
    FROM unnest(ids, does, names, tags, times, made, token_ids) AS sent (id, does, name, tag, time, seq, token_id)
    WHERE sent.seq IS NOT NULL;
  RETURN QUERY
    SELECT made, NULL::integer, NULL::text, NULL::text, NULL::bigint, NULL::bigint, NULL::bigint;
END
$body$;

CREATE FUNCTION %1$I.claim_webhooks_2(self text, lease_ms integer) RETURNS TABLE (webhook jsonb, surplus integer)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
#variable_conflict use_column
DECLARE
  at timestamptz;
  total integer;
  own integer;
  steady integer;
  is_steady boolean;
  share integer;
BEGIN
  IF NOT EXISTS (SELECT FROM %1$I.webhooks w WHERE w.disabled IS NULL) OR EXISTS (SELECT FROM %1$I.copied c WHERE c.seq = -1) THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(x'504c4e5402'::bigint);
  at := clock_timestamp();
  DELETE FROM %1$I.delivery_nodes n WHERE n.leased_until < at AND n.id <> self;
  INSERT INTO %1$I.delivery_nodes AS n VALUES (self, at, at, at + lease_ms * interval '1 millisecond')
    ON CONFLICT ON CONSTRAINT delivery_nodes_pkey DO UPDATE SET renewed = excluded.renewed, leased_until = excluded.leased_until;
  SELECT count(*), coalesce(bool_or(n.id = self), false) INTO steady, is_steady FROM %1$I.delivery_nodes n
    WHERE n.renewed > at - interval '3 seconds' AND n.renewed >= n.since + interval '2 seconds';
  SELECT count(*), count(*) FILTER (WHERE w.node = self) INTO total, own FROM %1$I.webhooks w WHERE w.disabled IS NULL;
  share := CASE WHEN steady = 0 THEN total WHEN is_steady THEN ceil(total::numeric / steady) ELSE 0 END;
  -- Another epoch, so that who had it before, and does not know that it has lost it, can record nothing any more.
  UPDATE %1$I.webhooks w SET node = self, epoch = w.epoch + 1 WHERE w.id IN (
    SELECT f.id FROM %1$I.webhooks f
    WHERE f.disabled IS NULL AND (f.node IS NULL OR NOT EXISTS (SELECT FROM %1$I.delivery_nodes n WHERE n.id = f.node))
    ORDER BY f.id LIMIT greatest(share - own, 0)
  );
  RETURN QUERY
    SELECT to_jsonb(w), greatest(own - share, 0) FROM %1$I.webhooks w WHERE w.node = self AND w.disabled IS NULL ORDER BY w.id;
END
$body$;

CREATE FUNCTION %1$I.rotate_token_2(token text, new_hash text, at bigint, old_until bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  old_hash text;
BEGIN
  SELECT t.secret_hash INTO old_hash FROM %1$I.tokens t
    WHERE t.id = token AND t.revoked IS NULL AND (t.expires IS NULL OR t.expires > at) FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO %1$I.old_secrets VALUES (old_hash, token, old_until);
  UPDATE %1$I.old_secrets o SET until = least(o.until, old_until) WHERE o.token_id = token;
  UPDATE %1$I.tokens t SET secret_hash = new_hash WHERE t.id = token;
  RETURN true;
END
$body$;

-- A name of more than 4 KiB is indexed as one that has very many words: one entry stands for all of them. Entries of tags
-- lie above it.
INSERT INTO %1$I.words (word, id)
  SELECT 9079256848778919936, id FROM %1$I.plants WHERE octet_length(name) > 4096 ON CONFLICT DO NOTHING;
DELETE FROM %1$I.words w USING %1$I.plants p
  WHERE octet_length(p.name) > 4096 AND w.id = p.id AND w.word < 9079256848778919936;

$migration$, CURRENT_SCHEMA, pg_catalog.format('%I.change_numbers', CURRENT_SCHEMA)); END $do$;

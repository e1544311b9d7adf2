-- works with: 1

CREATE TABLE webhooks (
  id text COLLATE "C" PRIMARY KEY,
  url text COLLATE "C" NOT NULL,
  events text COLLATE "C" NOT NULL, -- separated by spaces
  secret text COLLATE "C" NOT NULL, -- as it is: each message is signed with it
  old_secret text COLLATE "C", -- signs, too, until then
  old_secret_until bigint,
  created bigint NOT NULL,
  position bigint NOT NULL, -- changes up to this one are delivered, or have a row in deliveries
  replay_to bigint, -- up to here changes are sent once more; then it goes on after replay_resume
  replay_resume bigint,
  waiting_since bigint NOT NULL, -- what is older waits only since then: it was just asked for
  failing_since bigint, -- nothing but failures since
  reason text COLLATE "C",
  disabled bigint, -- when
  epoch bigint NOT NULL DEFAULT 0, -- grows when somebody else than the delivery loop changes from where on it is to be sent
  retries bigint NOT NULL DEFAULT 0, -- grows when somebody wants a delivery again
  node text COLLATE "C" -- delivers to it, as long as it is one of delivery_nodes
);

-- What became of a change that was, or is to be, sent to a webhook. Of those that were delivered only the newest are here.
CREATE TABLE deliveries (
  webhook_id text COLLATE "C" NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  seq bigint NOT NULL,
  plant_id bigint NOT NULL,
  status text COLLATE "C" NOT NULL, -- waiting, delivered or dead
  attempts integer NOT NULL,
  due bigint NOT NULL, -- of the next attempt
  time bigint, -- of the last one
  code integer,
  answer text COLLATE "C",
  error text COLLATE "C",
  PRIMARY KEY (webhook_id, seq)
);
CREATE INDEX undelivered ON deliveries (webhook_id, status, seq) WHERE status <> 'delivered';

-- By the clock of the database: those of the nodes may differ. What a node had when it went is free when its lease ends.
CREATE TABLE delivery_nodes (
  id text COLLATE "C" PRIMARY KEY,
  since timestamptz NOT NULL,
  renewed timestamptz NOT NULL,
  leased_until timestamptz NOT NULL
);

-- Keeps what a node has, and gives it what nobody has, up to its share. One call at a time. Webhooks are shared among
-- nodes that have been there for two seconds and still are: one that crashes again and again gets none while others live.
CREATE FUNCTION claim_webhooks_1(self text, lease_ms integer) RETURNS TABLE (webhook jsonb, surplus integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  at timestamptz;
  total integer;
  own integer;
  steady integer;
  is_steady boolean;
  share integer;
BEGIN
  IF NOT EXISTS (SELECT FROM webhooks w WHERE w.disabled IS NULL) OR EXISTS (SELECT FROM copied c WHERE c.seq = -1) THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(x'504c4e5402'::bigint);
  at := clock_timestamp();
  DELETE FROM delivery_nodes n WHERE n.leased_until < at AND n.id <> self;
  INSERT INTO delivery_nodes AS n VALUES (self, at, at, at + lease_ms * interval '1 millisecond')
    ON CONFLICT ON CONSTRAINT delivery_nodes_pkey DO UPDATE SET renewed = excluded.renewed, leased_until = excluded.leased_until;
  SELECT count(*), coalesce(bool_or(n.id = self), false) INTO steady, is_steady FROM delivery_nodes n
    WHERE n.renewed > at - interval '3 seconds' AND n.renewed >= n.since + interval '2 seconds';
  SELECT count(*), count(*) FILTER (WHERE w.node = self) INTO total, own FROM webhooks w WHERE w.disabled IS NULL;
  share := CASE WHEN steady = 0 THEN total WHEN is_steady THEN ceil(total::numeric / steady) ELSE 0 END;
  -- Another epoch, so that who had it before, and does not know that it has lost it, can record nothing any more.
  UPDATE webhooks w SET node = self, epoch = w.epoch + 1 WHERE w.id IN (
    SELECT f.id FROM webhooks f
    WHERE f.disabled IS NULL AND (f.node IS NULL OR NOT EXISTS (SELECT FROM delivery_nodes n WHERE n.id = f.node))
    ORDER BY f.id LIMIT greatest(share - own, 0)
  );
  RETURN QUERY
    SELECT to_jsonb(w), greatest(own - share, 0) FROM webhooks w WHERE w.node = self AND w.disabled IS NULL ORDER BY w.id;
END
$$;

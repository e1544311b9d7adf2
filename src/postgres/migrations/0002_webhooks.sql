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
  epoch bigint NOT NULL DEFAULT 0, -- grows when somebody else than the delivery loop changes what is to be sent
  node text COLLATE "C" -- delivers to it, as long as it is one of delivery_nodes
);

-- What became of a change that was, or is to be, sent to a webhook. Of those that were delivered only the newest are here.
CREATE TABLE deliveries (
  webhook_id text COLLATE "C" NOT NULL,
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

-- By the clock of the database: those of the nodes may differ.
CREATE TABLE delivery_nodes (id text COLLATE "C" PRIMARY KEY, leased_until timestamptz NOT NULL);

-- Keeps what a node has, and gives it what nobody has, up to its share. One call at a time.
CREATE FUNCTION claim_webhooks_1(self text, lease_ms integer) RETURNS TABLE (id text, surplus integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  total integer;
  share integer;
  own integer;
BEGIN
  IF NOT EXISTS (SELECT FROM webhooks w WHERE w.disabled IS NULL) OR EXISTS (SELECT FROM copied c WHERE c.seq = -1) THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(x'504c4e5402'::bigint);
  DELETE FROM delivery_nodes n WHERE n.leased_until < clock_timestamp() AND n.id <> self;
  INSERT INTO delivery_nodes AS n VALUES (self, clock_timestamp() + lease_ms * interval '1 millisecond')
    ON CONFLICT ON CONSTRAINT delivery_nodes_pkey DO UPDATE SET leased_until = excluded.leased_until;
  SELECT count(*), count(*) FILTER (WHERE w.node = self) INTO total, own FROM webhooks w WHERE w.disabled IS NULL;
  share := ceil(total::numeric / (SELECT count(*) FROM delivery_nodes));
  UPDATE webhooks w SET node = self WHERE w.id IN (
    SELECT f.id FROM webhooks f
    WHERE f.disabled IS NULL AND (f.node IS NULL OR NOT EXISTS (SELECT FROM delivery_nodes n WHERE n.id = f.node))
    ORDER BY f.id LIMIT greatest(share - own, 0)
  );
  RETURN QUERY
    SELECT w.id, greatest(own - share, 0) FROM webhooks w WHERE w.node = self AND w.disabled IS NULL ORDER BY w.id;
END
$$;

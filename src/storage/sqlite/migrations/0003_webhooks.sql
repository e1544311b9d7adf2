CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  events TEXT NOT NULL, -- separated by spaces
  secret TEXT NOT NULL, -- as it is: each message is signed with it
  old_secret TEXT, -- signs, too, until then
  old_secret_until INTEGER,
  created INTEGER NOT NULL,
  position INTEGER NOT NULL, -- changes up to this one are delivered, or have a row in deliveries
  replay_to INTEGER, -- up to here changes are sent once more; then it goes on after replay_resume
  replay_resume INTEGER,
  waiting_since INTEGER NOT NULL, -- what is older waits only since then: it was just asked for
  failing_since INTEGER, -- nothing but failures since
  reason TEXT,
  disabled INTEGER, -- when
  epoch INTEGER NOT NULL DEFAULT 0, -- grows when somebody else than the delivery loop changes from where on it is to be sent
  retries INTEGER NOT NULL DEFAULT 0 -- grows when somebody wants a delivery again
) STRICT;

-- What became of a change that was, or is to be, sent to a webhook. Of those that were delivered only the newest are here.
CREATE TABLE deliveries (
  webhook_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  plant_id INTEGER NOT NULL,
  status TEXT NOT NULL, -- waiting, delivered or dead
  attempts INTEGER NOT NULL,
  due INTEGER NOT NULL, -- of the next attempt
  time INTEGER, -- of the last one
  code INTEGER,
  answer TEXT,
  error TEXT,
  PRIMARY KEY (webhook_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX undelivered ON deliveries (webhook_id, status, seq) WHERE status <> 'delivered';

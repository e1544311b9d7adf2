PRAGMA application_id = 0x504c4e54; -- "PLNT"

-- Times are milliseconds since 1970, UTC.

CREATE TABLE plants (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  tag TEXT,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  seq INTEGER NOT NULL -- the change that made this version: its ETag
) STRICT;

-- AUTOINCREMENT, so that a number never comes back after old changes were removed.
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL CHECK (type IN ('plant.created', 'plant.updated', 'plant.deleted')),
  time INTEGER NOT NULL,
  plant_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  tag TEXT,
  token_id TEXT NOT NULL
) STRICT;

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  secret_hash TEXT NOT NULL UNIQUE, -- SHA-256 in hex; the secret is kept nowhere
  name TEXT NOT NULL,
  scopes TEXT NOT NULL, -- separated by spaces
  created INTEGER NOT NULL,
  expires INTEGER,
  revoked INTEGER
) STRICT;

-- `token_id` comes before the texts. SQLite keeps a long row in a chain of pages and reads it up to the last column that
-- is used, so a scan for the changes of a token would read all of every name.
PRAGMA legacy_alter_table = ON; -- the views keep the name of the table
CREATE TABLE new_changes (
  seq INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  time INTEGER NOT NULL,
  plant_id INTEGER NOT NULL,
  token_id TEXT NOT NULL,
  name TEXT NOT NULL,
  tag TEXT,
  previous INTEGER,
  plant_count INTEGER
) STRICT;
INSERT INTO new_changes SELECT seq, type, time, plant_id, token_id, name, tag, previous, plant_count FROM changes ORDER BY seq;
DROP TABLE changes;
ALTER TABLE new_changes RENAME TO changes;
PRAGMA legacy_alter_table = OFF;

-- The earliest and the latest time of each 4,096 changes. Times follow the numbers of changes only until a clock is set
-- back, or a node has another clock, so a search by time must know all of them. The newest changes are missing.
CREATE TABLE change_times (
  first INTEGER NOT NULL, -- number of the first of these changes
  last INTEGER PRIMARY KEY,
  earliest INTEGER NOT NULL,
  latest INTEGER NOT NULL
) STRICT;
INSERT INTO change_times SELECT min(seq), max(seq), min(time), max(time) FROM changes GROUP BY seq / 4096;

-- The order of plants by updated time. The index ends with the id.
CREATE INDEX plants_by_updated ON plants (updated);

-- The order of plants by name. `key` is the folded name. A rename or delete removes its entry at once. New names are
-- added later and together, which takes a third of the time: every name of a change up to numbering.names_to is here.
CREATE TABLE name_order (
  key TEXT NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY (key, id)
) STRICT, WITHOUT ROWID;
INSERT INTO name_order SELECT name_key(name), id FROM plants ORDER BY 1, 2;

-- `previous` is the number of the change that made the replaced or deleted version. `plant_count` is the number of
-- plants after the change. It is NULL in changes from before this migration.
ALTER TABLE changes ADD COLUMN previous INTEGER;
ALTER TABLE changes ADD COLUMN plant_count INTEGER;
UPDATE changes SET previous = known.previous FROM (
  SELECT seq, lag(seq) OVER (PARTITION BY plant_id ORDER BY seq) AS previous FROM changes
  WHERE plant_id IN (SELECT plant_id FROM changes WHERE type <> 'plant.created')
) AS known
WHERE known.seq = changes.seq AND changes.type <> 'plant.created';

-- `plant_count` is the number of plants if no change has one.
ALTER TABLE numbering ADD COLUMN plant_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE numbering ADD COLUMN names_to INTEGER NOT NULL DEFAULT 0;
UPDATE numbering SET
  plant_count = (SELECT count(*) FROM plants),
  names_to = max(pruned_to, coalesce((SELECT max(seq) FROM changes), 0), coalesce((SELECT max(last) FROM skipped), 0));

-- Plants without a tag get a word of their own in the index `words`, as a tag has.
INSERT INTO words (rowid, text) SELECT id, char(57345) FROM plants WHERE tag IS NULL ORDER BY id;

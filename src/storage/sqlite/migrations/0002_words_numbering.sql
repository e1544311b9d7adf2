-- One index serves both filters of a list, words and tag, alone or together, in the order of ids. What is put into
-- it, and how it is asked, is in search.ts. It keeps no copy of the text; beginnings of one letter, which very many
-- words share, are entries of their own.
CREATE VIRTUAL TABLE words USING fts5 (
  text,
  content = '',
  columnsize = 0,
  detail = none,
  tokenize = 'ascii',
  prefix = '1'
);
-- A batch of an import makes one segment of the index rather than many, and segments are merged little by little.
INSERT INTO words (words, rank) VALUES ('hashsize', 16777216), ('automerge', 16), ('crisismerge', 64);
INSERT INTO words (rowid, text) SELECT id, index_text(name, tag) FROM plants ORDER BY id;

-- Changes up to this number were removed. Neither they nor those that a restore skipped are given again. (Until now
-- AUTOINCREMENT saw to that, and took longer than all else for a single create.)
CREATE TABLE numbering (pruned_to INTEGER NOT NULL) STRICT;
CREATE TABLE skipped (first INTEGER NOT NULL, last INTEGER NOT NULL) STRICT;
INSERT INTO numbering SELECT coalesce((SELECT min(seq) - 1 FROM changes), (SELECT seq FROM sqlite_sequence), 0);

ALTER TABLE changes RENAME TO old_changes;
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  time INTEGER NOT NULL,
  plant_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  tag TEXT,
  token_id TEXT NOT NULL
) STRICT;
INSERT INTO changes SELECT * FROM old_changes;
DROP TABLE old_changes;

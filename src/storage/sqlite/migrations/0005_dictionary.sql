-- Every word of the index `words`, so that those with a beginning are found without it: to step from one word to the
-- next, the index reads all entries of the first. A word that no plant has any more may stay.
CREATE TABLE dictionary (word TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'words', 'row');
INSERT INTO dictionary SELECT term FROM temp.vocabulary WHERE substr(term, 1, 1) <> char(57344); -- that begins a tag
DROP TABLE temp.vocabulary;

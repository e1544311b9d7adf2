-- Words are cut at 64 characters now. Where there is a longer one, the index and the dictionary are made anew.
CREATE TEMP TABLE remake AS
SELECT 1 FROM dictionary WHERE octet_length(word) > 64 AND index_text(word, NULL) <> word LIMIT 1;
CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'words', 'row');

INSERT INTO words (words) SELECT 'delete-all' FROM temp.remake;
INSERT INTO words (rowid, text) SELECT id, index_text(name, tag) FROM temp.remake CROSS JOIN plants ORDER BY id;
DELETE FROM dictionary WHERE EXISTS (SELECT 1 FROM temp.remake);
INSERT INTO dictionary
SELECT term FROM temp.remake CROSS JOIN temp.vocabulary WHERE substr(term, 1, 1) <> char(57344); -- that begins a tag

DROP TABLE temp.vocabulary;
DROP TABLE temp.remake;

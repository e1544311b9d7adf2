-- works with: 1

-- The order of the list of tokens, which is read page by page.
CREATE INDEX tokens_by_created ON tokens (created, id);

ALTER TABLE tokens ADD COLUMN rate TEXT; -- such as 100/s
ALTER TABLE tokens ADD COLUMN last_used INTEGER; -- to the minute

-- Secrets that were replaced by newer ones. Each is still taken until then.
CREATE TABLE old_secrets (
  secret_hash TEXT PRIMARY KEY,
  token_id TEXT NOT NULL,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX old_secrets_of_token ON old_secrets (token_id);

-- works with: 1

ALTER TABLE tokens ADD COLUMN rate text COLLATE "C"; -- such as 100/s
ALTER TABLE tokens ADD COLUMN last_used bigint; -- to the minute

-- Secrets that were replaced by newer ones. Each is still taken until then.
CREATE TABLE old_secrets (
  secret_hash text COLLATE "C" PRIMARY KEY,
  token_id text COLLATE "C" NOT NULL,
  until bigint NOT NULL
);
CREATE INDEX old_secrets_of_token ON old_secrets (token_id);

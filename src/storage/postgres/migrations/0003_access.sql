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

-- A new secret for a token that is active; false where it is not. Every secret that it had is taken until then at most.
-- A function, since what waits for the lock has to see what the one before it wrote.
CREATE FUNCTION rotate_token_1(token text, new_hash text, at bigint, old_until bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  old_hash text;
BEGIN
  SELECT t.secret_hash INTO old_hash FROM tokens t
    WHERE t.id = token AND t.revoked IS NULL AND (t.expires IS NULL OR t.expires > at) FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO old_secrets VALUES (old_hash, token, old_until);
  UPDATE old_secrets o SET until = least(o.until, old_until) WHERE o.token_id = token;
  UPDATE tokens t SET secret_hash = new_hash WHERE t.id = token;
  RETURN true;
END
$$;

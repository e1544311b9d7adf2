ALTER TABLE webhooks ADD COLUMN format TEXT NOT NULL DEFAULT 'plant'; -- of its messages: plant or event
ALTER TABLE webhooks ADD COLUMN name TEXT;
ALTER TABLE deliveries ADD COLUMN attempt_log TEXT NOT NULL DEFAULT ''; -- a line of JSON per attempt, newest first

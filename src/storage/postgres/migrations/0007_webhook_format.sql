-- works with: 1

ALTER TABLE webhooks ADD COLUMN format text COLLATE "C" NOT NULL DEFAULT 'plant'; -- of its messages: plant or event
ALTER TABLE webhooks ADD COLUMN name text COLLATE "C";
ALTER TABLE deliveries ADD COLUMN attempt_log text COLLATE "C" NOT NULL DEFAULT ''; -- a line of JSON per attempt, newest first

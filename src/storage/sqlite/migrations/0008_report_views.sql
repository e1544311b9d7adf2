-- Views for people who read the database with SQL. They list their columns, so that a new column of a table does not
-- change them. Their comments are part of the schema, for tools that show it.

CREATE VIEW report_plants AS
-- Plants as the API returns them. Times are UTC. Only read: changes go through the API.
SELECT
  id, -- id of the plant
  name,
  tag, -- NULL if the plant has none
  strftime('%Y-%m-%dT%H:%M:%fZ', created / 1000.0, 'unixepoch') AS created, -- time of the create
  strftime('%Y-%m-%dT%H:%M:%fZ', updated / 1000.0, 'unixepoch') AS updated, -- time of the last change
  seq -- number of the change that wrote this version: its ETag
FROM plants;

CREATE VIEW report_changes AS
-- The change log, with the names of tokens. Times are UTC. Only read: changes go through the API.
SELECT
  changes.seq, -- number of the change, in the order of commits
  changes.type, -- plant.created, plant.updated or plant.deleted
  strftime('%Y-%m-%dT%H:%M:%fZ', changes.time / 1000.0, 'unixepoch') AS time, -- time of the change
  changes.plant_id, -- id of the plant
  changes.name, -- name after the change; before it, if the plant was deleted
  changes.tag, -- tag after the change; before it, if the plant was deleted
  changes.token_id, -- id of the token, jwt: and a subject, or cli
  tokens.name AS token_name -- NULL if token_id is not the id of a token
FROM changes LEFT JOIN tokens ON tokens.id = changes.token_id;

CREATE VIEW report_tokens AS
-- Tokens, without the hashes of their secrets. Times are UTC. Only read: changes go through the API.
SELECT
  id, -- id of the token
  name,
  scopes, -- separated by spaces
  rate, -- maximum rate of requests, such as 100/s; NULL if there is none
  strftime('%Y-%m-%dT%H:%M:%fZ', created / 1000.0, 'unixepoch') AS created,
  strftime('%Y-%m-%dT%H:%M:%fZ', expires / 1000.0, 'unixepoch') AS expires, -- NULL if the token never expires
  strftime('%Y-%m-%dT%H:%M:%fZ', revoked / 1000.0, 'unixepoch') AS revoked, -- NULL if the token is not revoked
  strftime('%Y-%m-%dT%H:%M:%fZ', last_used / 1000.0, 'unixepoch') AS last_used -- to the minute; NULL if never used
FROM tokens;

CREATE VIEW report_webhooks AS
-- Webhooks, without their secrets and without the paths of their URLs, which can contain secrets. Times are UTC. Only
-- read: changes go through the API.
SELECT
  id, -- id of the webhook
  substr(url, instr(url, '//') + 2, instr(substr(url, instr(url, '//') + 2), '/') - 1) AS host, -- host and port of the URL
  events, -- types of changes that it sends, separated by spaces
  strftime('%Y-%m-%dT%H:%M:%fZ', created / 1000.0, 'unixepoch') AS created,
  CASE WHEN disabled IS NOT NULL THEN 'disabled' WHEN failing_since IS NOT NULL THEN 'failing' ELSE 'active' END AS status,
  strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(disabled, failing_since) / 1000.0, 'unixepoch') AS since, -- of this status; NULL if active
  CASE WHEN failing_since IS NOT NULL THEN reason END AS reason, -- reason why it fails or was disabled
  position -- every change up to this number is delivered or is in report_deliveries
FROM webhooks;

CREATE VIEW report_deliveries AS
-- Deliveries to webhooks. Of those that succeeded, the store keeps only the newest. Times are UTC. Only read: changes go
-- through the API.
SELECT
  deliveries.webhook_id, -- id of the webhook
  deliveries.seq, -- number of the change
  changes.type, -- type of the change; NULL if the change was pruned
  deliveries.plant_id, -- id of the plant
  deliveries.status, -- waiting, delivered or dead
  deliveries.attempts, -- number of attempts so far
  strftime('%Y-%m-%dT%H:%M:%fZ', deliveries.time / 1000.0, 'unixepoch') AS time, -- time of the last attempt
  CASE WHEN deliveries.status = 'waiting' AND deliveries.attempts > 0
    THEN strftime('%Y-%m-%dT%H:%M:%fZ', deliveries.due / 1000.0, 'unixepoch') END AS next, -- time of the next attempt
  deliveries.code, -- HTTP status of the last response
  deliveries.error -- reason why the last attempt failed
FROM deliveries LEFT JOIN changes ON changes.seq = deliveries.seq;

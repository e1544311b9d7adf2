-- works with: 1

-- Views for people who read the database with SQL, and comments for tools that show the schema. The views list their
-- columns, so that a new column of a table does not change them. They are granted to no role. Milliseconds become
-- timestamps in two exact steps: whole seconds, then the rest.

DO $do$ BEGIN EXECUTE pg_catalog.format($migration$

SET LOCAL search_path = pg_catalog, pg_temp;

CREATE VIEW %1$I.report_plants AS
SELECT p.id, p.name, p.tag,
  to_timestamp(p.created / 1000) + p.created %% 1000 * interval '1 millisecond' AS created,
  to_timestamp(p.updated / 1000) + p.updated %% 1000 * interval '1 millisecond' AS updated,
  p.seq
FROM %1$I.plants p;

COMMENT ON VIEW %1$I.report_plants IS 'Plants as the API returns them. Only read: changes go through the API.';
COMMENT ON COLUMN %1$I.report_plants.id IS 'Id of the plant';
COMMENT ON COLUMN %1$I.report_plants.name IS 'Name';
COMMENT ON COLUMN %1$I.report_plants.tag IS 'Tag; NULL if the plant has none';
COMMENT ON COLUMN %1$I.report_plants.created IS 'Time of the create';
COMMENT ON COLUMN %1$I.report_plants.updated IS 'Time of the last change';
COMMENT ON COLUMN %1$I.report_plants.seq IS 'Number of the change that wrote this version: its ETag';

CREATE VIEW %1$I.report_changes AS
SELECT c.seq, c.type,
  to_timestamp(c.time / 1000) + c.time %% 1000 * interval '1 millisecond' AS time,
  c.plant_id, c.name, c.tag, c.token_id, t.name AS token_name
FROM %1$I.changes c LEFT JOIN %1$I.tokens t ON t.id = c.token_id;

COMMENT ON VIEW %1$I.report_changes IS 'The change log, with the names of tokens. Only read: changes go through the API.';
COMMENT ON COLUMN %1$I.report_changes.seq IS 'Number of the change, in the order of commits';
COMMENT ON COLUMN %1$I.report_changes.type IS 'plant.created, plant.updated or plant.deleted';
COMMENT ON COLUMN %1$I.report_changes.time IS 'Time of the change';
COMMENT ON COLUMN %1$I.report_changes.plant_id IS 'Id of the plant';
COMMENT ON COLUMN %1$I.report_changes.name IS 'Name after the change; before it, if the plant was deleted';
COMMENT ON COLUMN %1$I.report_changes.tag IS 'Tag after the change; before it, if the plant was deleted';
COMMENT ON COLUMN %1$I.report_changes.token_id IS 'Id of the token, jwt: and a subject, or cli';
COMMENT ON COLUMN %1$I.report_changes.token_name IS 'Name of the token; NULL if token_id is not the id of a token';

CREATE VIEW %1$I.report_tokens AS
SELECT t.id, t.name, t.scopes, t.rate,
  to_timestamp(t.created / 1000) + t.created %% 1000 * interval '1 millisecond' AS created,
  to_timestamp(t.expires / 1000) + t.expires %% 1000 * interval '1 millisecond' AS expires,
  to_timestamp(t.revoked / 1000) + t.revoked %% 1000 * interval '1 millisecond' AS revoked,
  to_timestamp(t.last_used / 1000) + t.last_used %% 1000 * interval '1 millisecond' AS last_used
FROM %1$I.tokens t;

COMMENT ON VIEW %1$I.report_tokens IS
  'Tokens, without the hashes of their secrets. Only read: changes go through the API.';
COMMENT ON COLUMN %1$I.report_tokens.id IS 'Id of the token';
COMMENT ON COLUMN %1$I.report_tokens.name IS 'Name';
COMMENT ON COLUMN %1$I.report_tokens.scopes IS 'Scopes, separated by spaces';
COMMENT ON COLUMN %1$I.report_tokens.rate IS 'Maximum rate of requests, such as 100/s; NULL if there is none';
COMMENT ON COLUMN %1$I.report_tokens.created IS 'Time of the create';
COMMENT ON COLUMN %1$I.report_tokens.expires IS 'Time of expiry; NULL if the token never expires';
COMMENT ON COLUMN %1$I.report_tokens.revoked IS 'Time of the revocation; NULL if the token is not revoked';
COMMENT ON COLUMN %1$I.report_tokens.last_used IS 'Time of the last use, to the minute; NULL if never used';

CREATE VIEW %1$I.report_webhooks AS
SELECT w.id, split_part(w.url, '/', 3) AS host, w.events,
  to_timestamp(w.created / 1000) + w.created %% 1000 * interval '1 millisecond' AS created,
  CASE WHEN w.disabled IS NOT NULL THEN 'disabled' WHEN w.failing_since IS NOT NULL THEN 'failing' ELSE 'active' END
    AS status,
  to_timestamp(coalesce(w.disabled, w.failing_since) / 1000)
    + coalesce(w.disabled, w.failing_since) %% 1000 * interval '1 millisecond' AS since,
  CASE WHEN w.failing_since IS NOT NULL THEN w.reason END AS reason,
  w.position
FROM %1$I.webhooks w;

COMMENT ON VIEW %1$I.report_webhooks IS
  'Webhooks, without their secrets and without the paths of their URLs, which can contain secrets. Only read: changes go through the API.';
COMMENT ON COLUMN %1$I.report_webhooks.id IS 'Id of the webhook';
COMMENT ON COLUMN %1$I.report_webhooks.host IS 'Host and port of the URL';
COMMENT ON COLUMN %1$I.report_webhooks.events IS 'Types of changes that it sends, separated by spaces';
COMMENT ON COLUMN %1$I.report_webhooks.created IS 'Time of the create';
COMMENT ON COLUMN %1$I.report_webhooks.status IS 'active, failing or disabled';
COMMENT ON COLUMN %1$I.report_webhooks.since IS 'Time since which it fails or is disabled; NULL if active';
COMMENT ON COLUMN %1$I.report_webhooks.reason IS 'Reason why it fails or was disabled';
COMMENT ON COLUMN %1$I.report_webhooks.position IS
  'Every change up to this number is delivered or is in report_deliveries';

CREATE VIEW %1$I.report_deliveries AS
SELECT d.webhook_id, d.seq, c.type, d.plant_id, d.status, d.attempts,
  to_timestamp(d.time / 1000) + d.time %% 1000 * interval '1 millisecond' AS time,
  CASE WHEN d.status = 'waiting' AND d.attempts > 0
    THEN to_timestamp(d.due / 1000) + d.due %% 1000 * interval '1 millisecond' END AS next,
  d.code, d.error
FROM %1$I.deliveries d LEFT JOIN %1$I.changes c ON c.seq = d.seq;

COMMENT ON VIEW %1$I.report_deliveries IS
  'Deliveries to webhooks. Of those that succeeded, the store keeps only the newest. Only read: changes go through the API.';
COMMENT ON COLUMN %1$I.report_deliveries.webhook_id IS 'Id of the webhook';
COMMENT ON COLUMN %1$I.report_deliveries.seq IS 'Number of the change';
COMMENT ON COLUMN %1$I.report_deliveries.type IS 'Type of the change; NULL if the change was pruned';
COMMENT ON COLUMN %1$I.report_deliveries.plant_id IS 'Id of the plant';
COMMENT ON COLUMN %1$I.report_deliveries.status IS 'waiting, delivered or dead';
COMMENT ON COLUMN %1$I.report_deliveries.attempts IS 'Number of attempts so far';
COMMENT ON COLUMN %1$I.report_deliveries.time IS 'Time of the last attempt';
COMMENT ON COLUMN %1$I.report_deliveries.next IS 'Time of the next attempt';
COMMENT ON COLUMN %1$I.report_deliveries.code IS 'HTTP status of the last response';
COMMENT ON COLUMN %1$I.report_deliveries.error IS 'Reason why the last attempt failed';

COMMENT ON TABLE %1$I.plants IS
  'Plants. Written only by Plant Store: a write with SQL damages the store. report_plants has timestamps.';
COMMENT ON COLUMN %1$I.plants.id IS 'Id of the plant';
COMMENT ON COLUMN %1$I.plants.name IS 'Name';
COMMENT ON COLUMN %1$I.plants.tag IS 'Tag; NULL if the plant has none';
COMMENT ON COLUMN %1$I.plants.created IS 'Time of the create, in milliseconds since 1970, UTC';
COMMENT ON COLUMN %1$I.plants.updated IS 'Time of the last change, in milliseconds since 1970, UTC';
COMMENT ON COLUMN %1$I.plants.seq IS 'Number of the change that wrote this version: its ETag';
COMMENT ON TABLE %1$I.changes IS
  'The change log. Written only by Plant Store: a write with SQL damages the store. report_changes has timestamps.';
COMMENT ON COLUMN %1$I.changes.seq IS 'Number of the change, in the order of commits';
COMMENT ON COLUMN %1$I.changes.type IS 'plant.created, plant.updated or plant.deleted';
COMMENT ON COLUMN %1$I.changes.time IS 'Time of the change, in milliseconds since 1970, UTC';
COMMENT ON COLUMN %1$I.changes.plant_id IS 'Id of the plant';
COMMENT ON COLUMN %1$I.changes.name IS 'Name after the change; before it, if the plant was deleted';
COMMENT ON COLUMN %1$I.changes.tag IS 'Tag after the change; before it, if the plant was deleted';
COMMENT ON COLUMN %1$I.changes.token_id IS 'Id of the token, jwt: and a subject, or cli';
COMMENT ON TABLE %1$I.tokens IS 'Internal, with hashes of secrets. Read report_tokens instead.';
COMMENT ON TABLE %1$I.webhooks IS 'Internal, with secrets. Read report_webhooks instead.';
COMMENT ON TABLE %1$I.deliveries IS 'Internal. Read report_deliveries instead.';
COMMENT ON TABLE %1$I.words IS 'Internal: the search index';

$migration$, CURRENT_SCHEMA); END $do$;

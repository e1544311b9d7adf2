-- works with: 1

-- The earliest and the latest time of each 4,096 changes. Times follow the numbers of changes only until a clock is set
-- back, or a node has another clock, so a search by time must know all of them. The newest changes are missing.
CREATE TABLE change_times (
  first bigint NOT NULL, -- number of the first of these changes
  last bigint PRIMARY KEY,
  earliest bigint NOT NULL,
  latest bigint NOT NULL
);
INSERT INTO change_times SELECT pg_catalog.min(seq), pg_catalog.max(seq), pg_catalog.min(time), pg_catalog.max(time) FROM changes
  WHERE seq < (SELECT pg_catalog.max(seq) / 4096 * 4096 FROM changes) GROUP BY seq / 4096;

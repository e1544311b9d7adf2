// The walk of plants.test.ts over 100,000 records.

process.env.WALK_RECORDS = '100000';
await import('./plants.test.ts');

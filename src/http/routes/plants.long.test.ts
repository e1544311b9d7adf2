// Runs plants.test.ts with 100,000 records.

process.env.WALK_RECORDS = '100000';
await import('./plants.test.ts');

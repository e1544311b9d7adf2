// npm run bench -- NAME: runs one of the benchmarks in this folder. The default is the comparison with other servers.

const BENCHMARKS: Record<string, string> = {
  compare: 'creates and reads, compared with other servers (needs wrk)',
  growth: 'imports, exports, reads and creates with 10 thousand to 10 million records on SQLite',
  commit: 'group commit: creates by 1, 64 and 512 clients, also with a slow disk (needs wrk, strace)',
  start: 'CPU time from the start of the process to the first stored plant (needs Linux)',
  import: 'plant-store import of 1 million plants, compared with sqlite3 .import',
  'index-cost': 'CPU time and disk space that the search index adds to writes',
  postgres: 'creates on PostgreSQL, compared with one INSERT per plant',
  webhooks: 'deliveries per second, and memory while 1,000 webhooks hang or have a backlog',
  limits: 'the cost of a rate limit per request',
  console: 'the console with 1 million plants: scroll, jump, search, sort and live changes (needs Chromium)',
  plot: 'redraw the charts in docs/results from the saved results',
};

const HELP = `Usage: npm run bench -- [options] [NAME]

Runs a benchmark and prints its results. The default is compare.

Benchmarks:
${Object.entries(BENCHMARKS)
  .map(([name, text]) => `  ${name.padEnd(12)} ${text}\n`)
  .join('')}
Options:
  --save       write the results and a chart to docs/results (compare and growth)
  -h, --help   print this help and exit

Environment:
  BENCH_ROUNDS   number of rounds (compare, console, growth, limits, start)
  BENCH_SECONDS  duration of a round in seconds (compare, commit)
  BENCH_ONLY     names of the servers to compare, separated by commas (compare)
  BENCH_SIZES    numbers of records, separated by commas (growth)
  BENCH_READS    number of reads of each kind (growth)
  BENCH_PLANTS   number of plants (console, import, postgres, webhooks)

Examples:
  npm run bench
  BENCH_ROUNDS=1 BENCH_SECONDS=1 npm run bench
  BENCH_ONLY=echo,plant-store,plant-store-1-thread npm run bench
  npm run bench -- start
`;

const words = process.argv.slice(2);
if (words.includes('--help') || words.includes('-h')) {
  process.stdout.write(HELP);
  process.exit();
}
const name = words.find((word) => !word.startsWith('--')) ?? 'compare';
if (!Object.hasOwn(BENCHMARKS, name)) {
  console.error(`Unknown benchmark "${name}"\n\n${HELP}`);
  process.exit(2);
}
await import(`./${name}.ts`);

// npm run bench -- NAME: one of the measurements beside this file; without a name, the comparison with other servers.

const NAMES = 'compare growth plot commit start import index-cost postgres webhooks limits'.split(' ');

const HELP = `Usage: npm run bench -- [options] [NAME]

Without a name it compares creates and reads with those of other servers. The README says what each of them measures:
  ${NAMES.join(', ')}

Options:
  --save       write what was seen to docs/performance (compare and growth)

Examples:
  npm run bench
  BENCH_ROUNDS=1 BENCH_SECONDS=1 npm run bench
  npm run bench -- start
`;

const words = process.argv.slice(2);
if (words.includes('--help') || words.includes('-h')) {
  process.stdout.write(HELP);
  process.exit();
}
const name = words.find((word) => !word.startsWith('--')) ?? 'compare';
if (!NAMES.includes(name)) {
  console.error(`There is no benchmark "${name}"\n\n${HELP}`);
  process.exit(2);
}
await import(`./${name}.ts`);

// npm run bench -- NAME: one of the measurements beside this file; without a name, the comparison with other servers.

const NAMES = [
  'compare',
  'growth',
  'plot',
  'commit',
  'start',
  'import',
  'index-cost',
  'postgres',
  'webhooks',
  'limits',
];

const name = process.argv.slice(2).find((arg) => !arg.startsWith('--')) ?? 'compare';
if (!NAMES.includes(name)) {
  console.error(`There is no benchmark "${name}": take ${NAMES.join(', ')}`);
  process.exit(2);
}
await import(`./${name}.ts`);

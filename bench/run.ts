// npm run bench -- NAME: one of the measurements beside this file; without a name, what a start costs.

const NAMES = ['start', 'import', 'growth', 'plot', 'index-cost', 'postgres', 'webhooks', 'limits'];

const name = process.argv[2] ?? 'start';
if (!NAMES.includes(name)) {
  console.error(`There is no benchmark "${name}": take ${NAMES.join(', ')}`);
  process.exit(2);
}
await import(`./${name}.ts`);

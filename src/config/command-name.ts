// How the commands of this service are called where it runs: in a checkout through npm, in a package by its own name.

const isCheckout = import.meta.filename.endsWith('.ts');

export const OWN_COMMAND = isCheckout ? 'npm run --silent plant-store --' : 'npx plant-store';

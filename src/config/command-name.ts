// Defines how users call the command line: through npm in a checkout, through npx in an installed package.

const isCheckout = import.meta.filename.endsWith('.ts');

export const OWN_COMMAND = isCheckout ? 'npm run --silent plant-store --' : 'npx plant-store';

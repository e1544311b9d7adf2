// Entry point: runs the command line with the streams, signals and exit status of this process.

import { reportBug, runCommand } from './cli/run.ts';
import { undoAll } from './lib/undo-at-end.ts';

if (process.argv[2] !== 'serve') {
  process.stdout.on('error', endWithoutOutput); // a server continues without its log
  process.on('uncaughtException', endWithBug); // a server logs it
}

const status = await runCommand(process.argv.slice(2), process);
if (status !== 0) process.stdout.write('', () => process.exit(status)); // an open input or connection must not delay the exit

async function endWithBug(error: unknown): Promise<never> {
  process.off('uncaughtException', endWithBug); // if reportBug() also throws, Node ends the process
  undoAll(); // restores the terminal before the message
  process.exit(await reportBug(error, process));
}

function endWithoutOutput({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return; // the reader, such as head, has ended
  undoAll();
  process.stderr.write(`plant-store: Cannot write to standard output: ${message}\n`);
  process.exit(1);
}

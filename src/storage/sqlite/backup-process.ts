// Runs as a process of its own, with the paths of a store, of its backup and of the backup's draft as arguments. It ends
// with the server that started it: if the server is killed, the channel between them closes.

import { undoAll } from '../../lib/undo-at-end.ts';
import { type BackupResult, backUpDatabase } from './backup.ts';

const [path = '', file = '', draft = ''] = process.argv.slice(2);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {}); // meant for the server, which decides
process.on('disconnect', abort);
if (!process.connected) abort();
const failure = await backUpDatabase(path, file, draft).then(
  () => null,
  (error: Error) => error.message,
);
process.off('disconnect', abort);
process.send?.({ failure } satisfies BackupResult, () => process.disconnect?.());

/** Ends without waiting for the thread that writes the draft. */
function abort(): void {
  undoAll(); // removes the draft
  process.kill(process.pid, 'SIGKILL');
}

// Runs as a process of its own, with the paths of a store and of its backup as arguments. It ends with the server that
// started it: if the server is killed, the channel between them closes.

import { type BackupResult, backUpDatabase, removeDraft } from './backup.ts';

const [path = '', file = ''] = process.argv.slice(2);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {}); // meant for the server, which decides
process.on('disconnect', abort);
if (!process.connected) abort();
const failure = await backUpDatabase(path, file).then(
  () => null,
  (error: Error) => error.message,
);
process.off('disconnect', abort);
process.send?.({ failure } satisfies BackupResult, () => process.disconnect?.());

/** Ends without waiting for the thread that writes the draft. */
function abort(): void {
  removeDraft(file);
  process.kill(process.pid, 'SIGKILL');
}

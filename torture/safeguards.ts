// Source edits that disable safeguards on which several trials depend.

import type { Change } from './broken-build.ts';

export const ANSWERS_FIRST: Change[] = [
  ['src/storage/sqlite/writer-thread.ts', `    db.exec('COMMIT');\n`, ''],
  [
    'src/storage/sqlite/writer-thread.ts',
    'port.postMessage(own);',
    `{
        port.postMessage(own);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
        if (db.isTransaction) db.exec('COMMIT');
      }`,
  ],
];

export const SYNCHRONOUS_OFF: Change[] = [
  [
    'src/storage/sqlite/database.ts',
    `'PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync`,
    `'PRAGMA synchronous = OFF; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync`,
  ],
  ['src/storage/sqlite/database.ts', `const SYNCHRONOUS_FULL = 2`, 'const SYNCHRONOUS_FULL = 0'],
];

export const LENIENT_PARSER: Change[] = [
  ['src/http/core/server.ts', 'optimizeEmptyRequests', 'insecureHTTPParser: true,\n    optimizeEmptyRequests'],
];

// Safeguards that more than one trial must miss when they are taken out.

import type { Control } from './fault.ts';

export const ANSWERS_FIRST = {
  build: 'one that answers, and commits 20 ms later',
  changes: [
    { file: 'src/storage/sqlite/writer-thread.ts', from: `    db.exec('COMMIT');\n`, to: '' },
    {
      file: 'src/storage/sqlite/writer-thread.ts',
      from: '  port.postMessage(result);',
      to: `port.postMessage(result);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
        db.exec('COMMIT');`,
    },
  ],
} satisfies Partial<Control>;

export const SYNCHRONOUS_OFF = {
  build: 'one with synchronous=OFF',
  changes: [
    {
      file: 'src/storage/sqlite/database.ts',
      from: `'PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync`,
      to: `'PRAGMA synchronous = OFF; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync`,
    },
    { file: 'src/storage/sqlite/database.ts', from: `const SYNCHRONOUS_FULL = 2`, to: 'const SYNCHRONOUS_FULL = 0' },
  ],
} satisfies Partial<Control>;

export const LENIENT_PARSER = {
  build: 'one with a lenient parser',
  changes: [
    {
      file: 'src/http/core/server.ts',
      from: 'optimizeEmptyRequests',
      to: 'insecureHTTPParser: true,\n    optimizeEmptyRequests',
    },
  ],
} satisfies Partial<Control>;

// All unit tests in one process: Node needs longer to start than most of them to run.

import { suite } from 'node:test';
import { quickTests } from './test-files.ts';

for (const file of quickTests().unit) suite(file, () => import(`../${file}`));

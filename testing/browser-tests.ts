// All tests that need a browser in one process, so that they share one.

import { suite } from 'node:test';
import './server.ts'; // its clean-up belongs to the end of all of them
import { quickTests } from './test-files.ts';

for (const file of quickTests().browser) suite(file, () => import(`../${file}`));

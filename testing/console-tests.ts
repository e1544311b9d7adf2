// All tests of the console in one process, and thereby in one browser.

import { suite } from 'node:test';
import './server.ts'; // its clean-up belongs to the end of all of them
import { quickTests } from './test-files.ts';

for (const file of quickTests().console) suite(file, () => import(`../${file}`));

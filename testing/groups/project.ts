import { importTests } from '../import-tests.ts';

importTests('project');

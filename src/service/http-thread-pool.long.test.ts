// Tests of a service with several threads on PostgreSQL.

import { DATABASES } from '../../testing/both-databases.ts';
import { threadCases } from '../../testing/thread-cases.ts';

threadCases(DATABASES[1]);

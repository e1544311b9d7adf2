// GET /plants/summary: what is in the store at a glance, for those who look at it rather than for programs.

import type { PlantStore } from '../plant.ts';
import { createRecent } from '../recent.ts';
import { Summary } from '../summary.ts';
import { NO_STORE, type Route, route } from './route.ts';

const KEPT_MS = 5000;

export function summaryRoute(store: PlantStore): Route {
  const recent = createRecent(KEPT_MS, () => store.summary());

  return route({
    method: 'GET',
    path: '/plants/summary',
    access: 'plants:read',
    operationId: 'getSummary',
    summary: 'Count plants, tags and changes',
    description: `All of one moment, which may be ${KEPT_MS / 1000} s ago, or longer where there is very much to count.`,
    answer: { description: 'The counts', schema: Summary, headers: NO_STORE },
    async handle({ reply }) {
      const summary = await recent();
      reply.header('cache-control', 'no-store');
      return summary;
    },
  });
}

// The list of the latest changes, newest first.

import type { Change } from 'plant-store/client';
import { Name, Tag, Time } from './show.tsx';

const WORDS: Record<Change['type'], string> = {
  'plant.created': 'added',
  'plant.updated': 'updated',
  'plant.deleted': 'deleted',
};

export function LastChanges({ changes }: { changes: Change[] }) {
  return (
    <section class="card full" aria-labelledby="last-title">
      <h2 id="last-title">Latest changes</h2>
      {changes.length === 0 && <p class="empty">No changes yet</p>}
      <ul class="changes">
        {changes.map(({ seq, type, time, plant, token }) => (
          <li key={seq}>
            <span class={`kind ${WORDS[type]}`}>{WORDS[type]}</span>
            <span class="what">
              <span class="id">{String(plant.id)}</span> <Name of={plant.name} /> <Tag of={plant.tag} />
            </span>
            <span class="faint">
              <Time at={time} /> by {token}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

// What the page shows instead of changes: nothing found, an error, a pruned change log, or the outline while loading.

import type { ComponentChildren } from 'preact';
import { errorText } from '../session/error-text.ts';
import { Icon } from '../shared/icon.tsx';
import { linkTo } from '../view.ts';

const ROWS = ['b-2', 'b-4', 'b-3', 'b-5', 'b-1', 'b-4', 'b-2', 'b-3'];

function State({ icon, title, children }: { icon: string; title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} class="empty-i" />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function NothingFound({ isFiltered, onClear }: { isFiltered: boolean; onClear(): void }) {
  return isFiltered ? (
    <State icon="filter" title="No changes found">
      <p>No change of the change log matches these filters.</p>
      <button type="button" class="btn" onClick={onClear}>
        Clear filters
      </button>
    </State>
  ) : (
    <State icon="activity" title="No changes yet">
      <p>Each plant that is added, updated or deleted appears here, with the token that did it.</p>
      <a class="btn" href={linkTo('plants')}>
        Go to plants
      </a>
    </State>
  );
}

export function WrongTimes({ why }: { why: string }) {
  return (
    <State icon="calendar" title="No such time">
      <p role="alert">{why}</p>
    </State>
  );
}

export function Pruned({ onReload }: { onReload(): void }) {
  return (
    <State icon="clock" title="The change log was pruned">
      <p role="alert">The changes that this page showed no longer exist. Newer ones are still there.</p>
      <button type="button" class="btn" onClick={onReload}>
        Show the newest changes
      </button>
    </State>
  );
}

export function Failed({ error, onRetry }: { error: unknown; onRetry(): void }) {
  return (
    <State icon="bad" title="The changes could not be loaded">
      <p role="alert">{errorText(error)}</p>
      <button type="button" class="btn" onClick={onRetry}>
        Try again
      </button>
    </State>
  );
}

export function ActivityBones() {
  return (
    <div class="scroller" aria-hidden="true">
      {ROWS.map((width, row) => (
        <div key={row} class="ev ev-row">
          <i class="bone b-5" />
          <i class="bone" />
          <i class={`bone ${width}`} />
          <i class="bone b-2" />
          <i class="bone b-4" />
        </div>
      ))}
    </div>
  );
}

// The card "Plants by tag": the most common tags, each a link to its plants.

import type { Summary } from 'plant-store/client';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useWorkspace } from '../session/workspace.ts';
import { number } from '../shared/numbers.ts';
import { Tag } from '../shared/plant-text.tsx';
import { linkTo } from '../view.ts';

/** Number of tags that are shown at first. */
const TOP = 9;

export function TagBars({ summary: { plants, untagged, tags } }: { summary: Summary }) {
  const { can } = useWorkspace();
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? tags : tags.slice(0, TOP);
  const most = Math.max(untagged, tags[0]?.plants ?? 0);
  return (
    <section class="card" aria-labelledby="tags-title">
      <header class="card-head">
        <h2 id="tags-title">Plants by tag</h2>
        {tags.length > TOP && (
          <button type="button" class="link" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Fewer tags' : 'All tags'}
          </button>
        )}
      </header>
      {plants === 0 && (
        <div class="card-none">
          <p>The store has no plants yet.</p>
          {can('plants:write') && (
            <a class="btn" href={linkTo('plants')}>
              Add plants
            </a>
          )}
        </div>
      )}
      {plants > untagged && tags.length === 0 && (
        <p class="card-note">The store has too many different tags to count them.</p>
      )}
      <ul class="bars">
        {shown.map((one) => (
          <TagBar key={one.tag} href={linkTo('plants', { tag: one.tag })} {...one} of={plants} most={most}>
            <Tag of={one.tag} />
          </TagBar>
        ))}
        {untagged > 0 && (
          <TagBar href={linkTo('plants', { untagged: '1' })} plants={untagged} of={plants} most={most} isGrey>
            <Tag of={undefined} />
          </TagBar>
        )}
      </ul>
    </section>
  );
}

function TagBar(props: {
  href: string;
  plants: number;
  of: number;
  most: number;
  isGrey?: boolean;
  children: ComponentChildren;
}) {
  const { href, plants, of, most, isGrey = false, children } = props;
  return (
    <li>
      <a href={href}>
        <span class="bar-l">{children}</span>
        <svg class="bar-g" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect class={isGrey ? 'f0' : 'f2'} width={((100 * plants) / most).toFixed(1)} height="8" />
        </svg>
        <span class="bar-n">{number(plants)}</span>
        <span class="bar-p">{percent(plants, of)}</span>
      </a>
    </li>
  );
}

/** Returns the share, with one decimal below 10 %. */
function percent(part: number, whole: number): string {
  const share = (100 * part) / whole;
  return share > 0 && share < 0.1 ? '< 0.1 %' : `${share.toFixed(share < 9.95 ? 1 : 0)} %`;
}

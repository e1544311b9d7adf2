// The list of changes by day. New changes wait behind a button while the user reads.

import type { Change } from 'plant-store/client';
import { Fragment, type RefObject } from 'preact';
import { Icon } from '../shared/icon.tsx';
import { count } from '../shared/numbers.ts';
import { useNow } from '../shared/time.tsx';
import type { FeedState } from './change-feed.ts';
import { daysOf } from './days.ts';
import { EndOfList } from './end-of-list.tsx';
import { Entry } from './entry.tsx';
import type { Reading } from './use-reading.ts';

interface Props {
  feed: FeedState;
  reading: Reading;
  scroller: RefObject<HTMLElement | null>;
  isFiltered: boolean;
  tokenName(change: Change): string;
  earlierOf(seq: number): Change | undefined;
  onScroll(): void;
  onShowNew(): void;
  onMore(): void;
  onContinue(): void;
}

export function ChangeList(props: Props) {
  const { feed, reading, scroller, isFiltered, tokenName, earlierOf, onScroll, onShowNew, onMore, onContinue } = props;
  const { changes = [], waiting, fresh } = feed;
  const nowMs = useNow();
  const currentSeq = changes.some(({ seq }) => seq === reading.current) ? reading.current : changes[0]?.seq;
  return (
    <section
      ref={scroller}
      class="scroller"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls the region
      tabIndex={0}
      aria-label="Changes"
      onScroll={onScroll}
      onFocusIn={reading.noteFocus}
      onFocusOut={onScroll}
    >
      {waiting > 0 && (
        <button type="button" class="new-pill" onClick={onShowNew}>
          <Icon name="up" />
          {count(waiting, 'new change')}
        </button>
      )}
      {daysOf(changes, nowMs).map(({ title, date, changes: ofDay }) => (
        <Fragment key={`${title} ${date}`}>
          <h2 class="day">
            {title} <span>{date}</span>
          </h2>
          <ul class="evs">
            {ofDay.map((change) => (
              <Entry
                key={change.seq}
                change={change}
                by={tokenName(change)}
                earlier={earlierOf(change.seq)}
                isOpen={change.seq === reading.open}
                isCurrent={change.seq === currentSeq}
                isFresh={fresh.has(change.seq)}
                onToggle={reading.toggle}
              />
            ))}
          </ul>
        </Fragment>
      ))}
      <EndOfList feed={feed} isFiltered={isFiltered} scroller={scroller} onMore={onMore} onContinue={onContinue} />
    </section>
  );
}

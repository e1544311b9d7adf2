// Connects the feed of changes to the page: a new feed for other filters, and the stream of live changes.

import { useEffect, useRef, useState } from 'preact/hooks';
import { endsSession, useLive, useWorkspace } from '../session/workspace.ts';
import { linkTo } from '../view.ts';
import { type ChangeFeed, createChangeFeed, type FeedState, NOTHING_LOADED } from './change-feed.ts';
import { type Filters, toParameters } from './filters.ts';

type Actions = Pick<ChangeFeed, 'loadOlder' | 'showNew' | 'resume'>;

export function useChangeFeed(filters: Filters, isHeld: () => boolean): FeedState & Actions & { reload(): void } {
  const workspace = useWorkspace();
  const [state, setState] = useState<FeedState>(NOTHING_LOADED);
  const [attempt, setAttempt] = useState(0);
  const feed = useRef<ChangeFeed>(undefined);
  const held = useRef(isHeld);
  held.current = isHeld;

  useEffect(() => {
    setState(NOTHING_LOADED);
    const own = createChangeFeed({
      client: workspace.client,
      filters,
      isHeld: () => held.current(),
      onState: setState,
      onError: (error) => endsSession(error, workspace),
    });
    feed.current = own;
    void own.loadOlder();
    return () => own.stop();
  }, [linkTo('activity', toParameters(filters)), attempt]);
  useLive((change) => feed.current?.note(change));

  return {
    ...state,
    loadOlder: async () => feed.current?.loadOlder(),
    showNew: async () => feed.current?.showNew(),
    resume: () => feed.current?.resume(),
    reload: () => setAttempt(attempt + 1),
  };
}

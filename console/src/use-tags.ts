// The tags in use, most frequent first, for selection lists.

import { useCallback, useEffect, useState } from 'preact/hooks';
import { useWorkspace } from './workspace.ts';

/** Delay of a second load. The server's counts can be some seconds old and miss an import that has just ended. */
const RELOAD_MS = 6000;

export function useTags(): { tags: string[]; reload(): void } {
  const { client } = useWorkspace();
  const [tags, setTags] = useState<string[]>([]);
  const reload = useCallback(() => {
    client.summary().then(
      (summary) => setTags(summary.tags.map(({ tag }) => tag)),
      () => {}, // The page works without the list of tags.
    );
  }, [client]);
  useEffect(() => {
    reload();
    const timer = setTimeout(reload, RELOAD_MS);
    return () => clearTimeout(timer);
  }, [reload]);
  return { tags, reload };
}

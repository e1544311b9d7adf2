// The tags that are in use, most used first, for those who have to choose one.

import { useCallback, useEffect, useState } from 'preact/hooks';
import { useWorkspace } from './workspace.ts';

/** What the server has counted may be some seconds old, from before an import that has just ended. */
const AGAIN_MS = 6000;

export function useTags(): { tags: string[]; reload(): void } {
  const { client } = useWorkspace();
  const [tags, setTags] = useState<string[]>([]);
  const reload = useCallback(() => {
    client.summary().then(
      (summary) => setTags(summary.tags.map(({ tag }) => tag)),
      () => {}, // one can do without
    );
  }, [client]);
  useEffect(() => {
    reload();
    const timer = setTimeout(reload, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [reload]);
  return { tags, reload };
}

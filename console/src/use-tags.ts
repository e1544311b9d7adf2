// The tags that are in use, most used first, for those who have to choose one.

import { useCallback, useEffect, useState } from 'preact/hooks';
import { useWorkspace } from './workspace.ts';

export function useTags(): { tags: string[]; reload(): void } {
  const { client } = useWorkspace();
  const [tags, setTags] = useState<string[]>([]);
  const reload = useCallback(() => {
    client.summary().then(
      (summary) => setTags(summary.tags.map(({ tag }) => tag)),
      () => {}, // one can do without
    );
  }, [client]);
  useEffect(reload, [reload]);
  return { tags, reload };
}

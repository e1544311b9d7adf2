// The tags that are in use, most used first, for those who have to choose one.

import { useEffect, useState } from 'preact/hooks';
import { useWorkspace } from './workspace.ts';

export function useTags(): string[] {
  const { client } = useWorkspace();
  const [tags, setTags] = useState<string[]>([]);
  useEffect(() => {
    client.summary().then(
      (summary) => setTags(summary.tags.map(({ tag }) => tag)),
      () => {}, // one can do without
    );
  }, [client]);
  return tags;
}

// The banner while the server is out of reach. The stream of changes tries again by itself.

import { useEffect, useState } from 'preact/hooks';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { clockTime } from '../shared/time.tsx';

const RETRY_MS = 4000;

export function OfflineBanner() {
  const { client } = useWorkspace();
  const isOffline = useIsOffline();
  const [sinceMs, setSinceMs] = useState(0);
  const retry = () => void client.lastSeq().catch(() => {});
  useEffect(() => {
    setSinceMs(Date.now());
    if (!isOffline) return;
    const timer = setInterval(retry, RETRY_MS);
    return () => clearInterval(timer);
  }, [isOffline]);
  return (
    <div role="status">
      {isOffline && (
        <div class="banner warn">
          <Icon name="wifi" />
          <span>
            <b>The server is out of reach.</b> You see what was loaded before {clockTime(new Date(sinceMs))}. Trying
            again…
          </span>
          <button type="button" class="btn s" onClick={retry}>
            Try now
          </button>
        </div>
      )}
    </div>
  );
}

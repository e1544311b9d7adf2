// Makes the browser ask for confirmation before the user leaves the page and loses work.

import { useEffect } from 'preact/hooks';

export function useAskBeforeLeaving(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return;
    addEventListener('beforeunload', askFirst);
    return () => removeEventListener('beforeunload', askFirst);
  }, [isNeeded]);
}

function askFirst(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

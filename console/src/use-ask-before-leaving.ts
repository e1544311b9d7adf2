// The browser asks before the page is left, while something would be lost with it.

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

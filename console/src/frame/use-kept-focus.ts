// Keeps the focus in the page when the element that had it disappears.

import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Moves the focus to the content when the focused element is removed. Otherwise it would move to the page's top. */
export function useKeptFocus(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let last: Element | null = null;
    const note = () => {
      last = document.activeElement;
    };
    const keep = () => {
      const isLost = document.activeElement === document.body && !last?.isConnected;
      if (isLost) main.current?.focus({ preventScroll: true });
    };
    keep();
    addEventListener('focusin', note);
    const observer = new MutationObserver(keep);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      removeEventListener('focusin', note);
      observer.disconnect();
    };
  }, []);
}

// What the user reads in the list: the open entry, and the entry that the arrow keys have reached.

import type { RefObject } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import { useShortcuts } from '../frame/shortcuts.ts';

export interface Reading {
  /** Numbers of changes. */
  open: number | undefined;
  current: number | undefined;
  toggle(seq: number): void;
  close(): void;
  noteFocus(event: FocusEvent): void;
}

export function useReading(scroller: RefObject<HTMLElement | null>): Reading {
  const [open, setOpen] = useState<number>();
  const [current, setCurrent] = useState<number>();
  const toggle = useCallback((seq: number) => setOpen((was) => (was === seq ? undefined : seq)), []);
  const close = useCallback(() => setOpen(undefined), []);
  const noteFocus = useCallback(({ target }: FocusEvent) => {
    const { seq } = (target as HTMLElement).dataset;
    if (seq !== undefined) setCurrent(Number(seq));
  }, []);
  const move = (step: number) => () => {
    const rows = [...(scroller.current?.querySelectorAll<HTMLElement>('.ev-row') ?? [])];
    const focused = document.activeElement?.closest('.ev')?.querySelector<HTMLElement>('.ev-row');
    const at = focused ? rows.indexOf(focused) + step : rows.findIndex(({ tabIndex }) => tabIndex === 0);
    rows[Math.max(0, Math.min(rows.length - 1, at))]?.focus();
  };
  useShortcuts({ ArrowDown: move(1), j: move(1), ArrowUp: move(-1), k: move(-1), Escape: close });
  return { open, current, toggle, close, noteFocus };
}

/** True while the user reads entries, so that they must not move. */
export function isReading(scroller: HTMLElement | null): boolean {
  if (!scroller) return false;
  const isOpen = scroller.querySelector('.is-expanded') !== null;
  return isOpen || scroller.scrollTop > 4 || document.activeElement?.closest('.ev') != null;
}

// Keyboard shortcuts. Single letters do nothing while a field has the focus, and can be switched off.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { hasLetterShortcuts } from './settings.ts';

/** A key as `KeyboardEvent.key` names it, with `Ctrl+` (also for Command) or `Shift+`. Letters are lower case. */
export type Shortcuts = Record<string, (event: KeyboardEvent) => void>;

const SEQUENCE_MS = 1200;

const OVERLAYS = ':is([role=dialog], [role=alertdialog], [role=menu])[data-open]';

interface Pressed {
  key: string;
  ms: number;
}

let last: Pressed = { key: '', ms: 0 };
/** The key before the one that is being handled. */
let previous = last;

/** Calls a function on its key, also on a sequence such as `g p`. Nothing happens behind a dialog or a menu. */
export function useShortcuts(shortcuts: Shortcuts, isOn = true): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  // A key can arrive as soon as the page shows what it belongs to.
  useLayoutEffect(() => {
    if (!isOn) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.altKey) return;
      const action = find(latest.current, event);
      if (!action) return;
      event.preventDefault();
      action(event);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [isOn]);
}

// It captures, so that it runs before the handlers of this key.
addEventListener(
  'keydown',
  ({ key, ctrlKey, metaKey, altKey, timeStamp }) => {
    if (key === 'Shift' || ctrlKey || metaKey || altKey) return;
    previous = last;
    last = { key: key.toLowerCase(), ms: timeStamp };
  },
  { capture: true },
);

function find(shortcuts: Shortcuts, event: KeyboardEvent): ((event: KeyboardEvent) => void) | undefined {
  const { ctrlKey, metaKey, shiftKey, timeStamp } = event;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isCommand = ctrlKey || metaKey;
  if (document.querySelector(OVERLAYS) && !(isCommand && key === 'k')) return undefined;
  if (isCommand && shiftKey) return undefined;
  if (isCommand) return isTyping(event) && key !== 'k' && key !== 'Enter' ? undefined : shortcuts[`Ctrl+${key}`];
  if (isTyping(event)) return undefined;
  const isLetter = key.length === 1 && key !== '?' && key !== '/';
  if (isLetter && !hasLetterShortcuts()) return undefined;
  const isSecond = timeStamp - previous.ms < SEQUENCE_MS && previous.key === 'g';
  if (isSecond && shortcuts[`g ${key}`]) return shortcuts[`g ${key}`];
  if (isSecond) return undefined;
  return shortcuts[shiftKey && key.length > 1 ? `Shift+${key}` : key];
}

function isTyping({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'file'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

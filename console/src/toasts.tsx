// Short messages about completed actions, with Undo where it is possible.

import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';

interface Toast {
  text: string;
  isProblem?: boolean;
  undo?: (() => void) | undefined;
  /** Element of a keyboard action. If it still has the focus, the focus moves to Undo, which is far away otherwise. */
  focusFrom?: Element | null;
}

type Tell = (text: string, options?: Omit<Toast, 'text'>) => void;

const SHOWN_MS = 6000;
/** Leaves time to read the message and to find Undo. */
const SHOWN_WITH_UNDO_MS = 20_000;
const MAX_SHOWN = 6;
/** A key pressed within this time was meant for the previously focused element. */
const IGNORE_KEYS_MS = 500;

const ToastsContext = createContext<Tell>(() => {});

export function useToasts(): Tell {
  return useContext(ToastsContext);
}

export function ToastsProvider({ children }: { children: ComponentChildren }) {
  const [toasts, setToasts] = useState<(Toast & { key: number })[]>([]);
  const nextKey = useRef(0);

  const tell = useCallback<Tell>((text, options = {}) => {
    const key = nextKey.current++;
    setToasts((shown) => [...withRoom(shown), { ...options, text, key }]);
  }, []);

  return (
    <ToastsContext.Provider value={tell}>
      {children}
      <section class="toasts" aria-label="Messages" aria-live="polite">
        {toasts.map(({ key, ...toast }) => (
          <Message
            key={key}
            {...toast}
            onClose={() => setToasts((shown) => shown.filter((other) => other.key !== key))}
          />
        ))}
      </section>
    </ToastsContext.Provider>
  );
}

function Message({ text, isProblem, undo, focusFrom, onClose }: Toast & { onClose(): void }) {
  const [isHeld, setHeld] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const bornMs = useRef(performance.now());

  useEffect(() => {
    const { activeElement } = document;
    if (focusFrom && (activeElement === focusFrom || activeElement?.matches('body, main'))) button.current?.focus();
  }, []);

  useEffect(() => {
    if (isHeld) return;
    const timer = setInterval(
      () => document.querySelector('dialog[open]') ?? onClose(), // Undo cannot be clicked behind a dialog.
      undo ? SHOWN_WITH_UNDO_MS : SHOWN_MS,
    );
    return () => clearInterval(timer);
  }, [isHeld]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the handlers only keep the message open
    <div
      class={isProblem ? 'toast problem' : 'toast'}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocusCapture={() => setHeld(true)}
      onBlurCapture={() => setHeld(false)}
    >
      <span>{text}</span>
      {undo && (
        <button
          type="button"
          ref={button}
          onClick={({ detail }) => {
            if (focusFrom && performance.now() - bornMs.current < IGNORE_KEYS_MS) return;
            onClose();
            undo();
            if (detail === 0) setTimeout(focusNext);
          }}
        >
          Undo
        </button>
      )}
      <button type="button" class="quiet" aria-label="Dismiss" onClick={onClose}>
        ✕
      </button>
    </div>
  );
}

/** Removes one message if there are too many, preferably one without Undo. */
function withRoom<T extends Toast>(shown: T[]): T[] {
  if (shown.length < MAX_SHOWN) return shown;
  const leaving = shown.find(({ undo }) => !undo) ?? shown[0];
  return shown.filter((toast) => toast !== leaving);
}

/** Moves the focus of keyboard users to the next message, or to the table. */
function focusNext(): void {
  const button = document.querySelector<HTMLElement>('.toast button');
  (button ?? document.querySelector<HTMLElement>('.scroller'))?.focus();
}

// Short messages that say what was done, with a way back where there is one.

import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';

interface Toast {
  text: string;
  isProblem?: boolean;
  undo?: (() => void) | undefined;
  /** For who works with keys, and has not gone elsewhere since: the way back would be far. */
  focusFrom?: Element | null;
}

type Tell = (text: string, options?: Omit<Toast, 'text'>) => void;

const SHOWN_MS = 6000;
/** Somebody has to read it and find the button. */
const SHOWN_WITH_UNDO_MS = 20_000;
const MAX_SHOWN = 6;
/** A key that is still down, or pressed twice, was for what had the focus before. */
const UNWANTED_MS = 500;

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
      () => document.querySelector('dialog[open]') ?? onClose(), // behind a dialog nobody could press it
      undo ? SHOWN_WITH_UNDO_MS : SHOWN_MS,
    );
    return () => clearInterval(timer);
  }, [isHeld]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it stays while somebody is at it, and does nothing else
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
            if (focusFrom && performance.now() - bornMs.current < UNWANTED_MS) return;
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

/** What can be undone stays as long as it can. */
function withRoom<T extends Toast>(shown: T[]): T[] {
  if (shown.length < MAX_SHOWN) return shown;
  const leaving = shown.find(({ undo }) => !undo) ?? shown[0];
  return shown.filter((toast) => toast !== leaving);
}

/** Who works with keys goes on with the next message, or with the table. */
function focusNext(): void {
  const button = document.querySelector<HTMLElement>('.toast button');
  (button ?? document.querySelector<HTMLElement>('.scroller'))?.focus();
}

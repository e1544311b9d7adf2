// Short messages that say what was done, with a way back where there is one.

import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useRef, useState } from 'preact/hooks';

interface Toast {
  text: string;
  isProblem?: boolean;
  undo?: (() => void) | undefined;
}

type Tell = (text: string, options?: Omit<Toast, 'text'>) => void;

const SHOWN_MS = 6000;
/** Somebody has to read it and find the button. */
const SHOWN_WITH_UNDO_MS = 15_000;

const ToastsContext = createContext<Tell>(() => {});

export function useToasts(): Tell {
  return useContext(ToastsContext);
}

export function ToastsProvider({ children }: { children: ComponentChildren }) {
  const [toasts, setToasts] = useState<(Toast & { key: number })[]>([]);
  const nextKey = useRef(0);

  const tell = useCallback<Tell>((text, options = {}) => {
    const key = nextKey.current++;
    setToasts((shown) => [...shown.slice(-3), { ...options, text, key }]);
    setTimeout(() => close(key), options.undo ? SHOWN_WITH_UNDO_MS : SHOWN_MS);
  }, []);

  function close(key: number): void {
    setToasts((shown) => shown.filter((toast) => toast.key !== key));
  }

  return (
    <ToastsContext.Provider value={tell}>
      {children}
      <section class="toasts" aria-label="Messages" aria-live="polite">
        {toasts.map(({ key, text, isProblem, undo }) => (
          <div key={key} class={isProblem ? 'toast problem' : 'toast'}>
            <span>{text}</span>
            {undo && (
              <button
                type="button"
                onClick={() => {
                  close(key);
                  undo();
                }}
              >
                Undo
              </button>
            )}
            <button type="button" class="quiet" aria-label="Close this message" onClick={() => close(key)}>
              ✕
            </button>
          </div>
        ))}
      </section>
    </ToastsContext.Provider>
  );
}

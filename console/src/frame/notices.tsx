// The notice of the last action, in the strip at the bottom of each page. It never covers data. Undo takes the action back.

import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { Icon, Keys } from '../shared/icon.tsx';
import { useShortcuts } from './shortcuts.ts';

interface Notice {
  text: string;
  isProblem?: boolean;
  undo?: (() => void) | undefined;
}

/** Shows a notice in place of the last one. */
export type Tell = (text: string, options?: Omit<Notice, 'text'>) => void;

const SHOWN_MS = 8000;
/** Leaves time to read the notice and to find Undo. */
const SHOWN_WITH_UNDO_MS = 30_000;

const NoticeContext = createContext<{ notice: Notice | undefined; tell: Tell; dismiss(): void }>({
  notice: undefined,
  tell() {},
  dismiss() {},
});

export function useTell(): Tell {
  return useContext(NoticeContext).tell;
}

export function NoticeProvider({ children }: { children: ComponentChildren }) {
  const [notice, setNotice] = useState<Notice>();
  const tell = useCallback<Tell>((text, options = {}) => setNotice({ text, ...options }), []);
  const dismiss = useCallback(() => setNotice(undefined), []);
  const value = useMemo(() => ({ notice, tell, dismiss }), [notice]);
  useShortcuts({ 'Ctrl+z': () => undo(value) });
  return <NoticeContext.Provider value={value}>{children}</NoticeContext.Provider>;
}

function undo({ notice, dismiss }: { notice: Notice | undefined; dismiss(): void }): void {
  if (!notice?.undo) return;
  dismiss();
  notice.undo();
}

/** The strip at the bottom of a page: `children` at the left, the notice at the right. */
export function StatusStrip({ children }: { children?: ComponentChildren }) {
  const { notice, dismiss } = useContext(NoticeContext);
  const [isHeld, setHeld] = useState(false);

  useEffect(() => {
    if (!notice || isHeld) return;
    const timer = setTimeout(dismiss, notice.undo ? SHOWN_WITH_UNDO_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice, isHeld]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the handlers only keep the notice open
    <div
      class={children || notice ? 'status' : 'status is-empty'}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocusCapture={() => setHeld(true)}
      onBlurCapture={() => setHeld(false)}
    >
      {children && <span class="status-l">{children}</span>}
      <div role="status" class="notice-place">
        {notice && (
          <span class={notice.isProblem ? 'notice bad' : 'notice'}>
            <Icon name={notice.isProblem ? 'bad' : 'good'} />
            <span title={notice.text}>{notice.text}</span>
            {notice.undo && (
              <>
                <button type="button" class="link" onClick={() => undo({ notice, dismiss })}>
                  Undo
                </button>
                <Keys of={['Ctrl Z']} />
              </>
            )}
            <button type="button" class="btn icon s quiet" aria-label="Dismiss" onClick={dismiss}>
              <Icon name="x" />
            </button>
          </span>
        )}
      </div>
    </div>
  );
}

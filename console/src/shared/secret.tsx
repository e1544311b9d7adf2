// A secret that is shown once. The dialog does not close by accident while the secret is not copied.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useUnfinished } from '../session/workspace.ts';
import { copyText } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';

interface Props {
  title: string;
  /** What the secret belongs to, in a sentence: "the token label printer". */
  of: string;
  secret: string;
  /** What happens if the secret is lost, and what to do then. */
  warning: string;
  /** Left of the buttons. */
  foot?: ComponentChildren;
  onClose(): void;
  children?: ComponentChildren;
}

export function SecretDialog({ title, of, secret, warning, foot, onClose, children }: Props) {
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  useUnfinished(() => (isCopied ? '' : `The secret of ${of} was not copied. Rotate it to get another.`));
  useStaying(!isCopied, () => setAsking(true));
  const close = () => (isCopied ? onClose() : setAsking(true));
  return (
    <Dialog title={title} size="mid" onClose={close}>
      <div class="dialog-body">
        <div class="callout warn">
          <Icon name="alert" />
          <span>
            <b>Copy it now.</b> {warning}
          </span>
        </div>
        <Secret text={secret} onCopied={() => setCopied(true)} />
        {children}
        <div role="alert">
          {isAsking && !isCopied && (
            <p class="err">
              <Icon name="bad" />
              <span>You have not copied the secret. After you close this, it cannot be shown again.</span>
            </p>
          )}
        </div>
      </div>
      <footer class="dialog-foot">
        {foot}
        <div class="grow" />
        {isAsking && !isCopied ? (
          <button type="button" class="btn danger-solid" onClick={onClose}>
            Close without copying
          </button>
        ) : (
          <button type="button" class={isCopied ? 'btn primary' : 'btn'} onClick={close}>
            Done
          </button>
        )}
      </footer>
    </Dialog>
  );
}

function Secret({ text, onCopied }: { text: string; onCopied(): void }) {
  const [state, setState] = useState<'' | 'copied' | 'refused'>('');
  const place = useRef<HTMLOutputElement>(null);

  async function copy(): Promise<void> {
    try {
      await copyText(text);
      setState('copied');
      onCopied();
    } catch {
      if (place.current) getSelection()?.selectAllChildren(place.current);
      setState('refused');
    }
  }

  return (
    <div class="secret-place">
      <div class="secret">
        <output ref={place} class="mono" aria-label="Secret" onCopy={onCopied}>
          {text}
        </output>
        <button type="button" class="btn primary" data-first-focus onClick={() => void copy()}>
          <Icon name={state === 'copied' ? 'check' : 'copy'} />
          {state === 'copied' ? 'Copied' : 'Copy'}
        </button>
      </div>
      <p class="help" role="status">
        {state === 'refused' && 'The browser does not let this page copy. The secret is selected: press Ctrl C.'}
      </p>
    </div>
  );
}

/** Keeps the page: Back would close the dialog on a phone, and the browser asks before the tab closes. */
function useStaying(isNeeded: boolean, onStayed: () => void): void {
  useEffect(() => {
    if (!isNeeded) return;
    const here = location.href;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    // It fires before `hashchange`, so that the view does not change.
    const stay = () => {
      history.pushState(null, '', here);
      onStayed();
    };
    addEventListener('beforeunload', ask);
    addEventListener('popstate', stay);
    return () => {
      removeEventListener('beforeunload', ask);
      removeEventListener('popstate', stay);
    };
  }, [isNeeded]);
}

// Modal dialogs, based on the browser's <dialog>, which traps and restores the focus and closes with Escape.

import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { useAskBeforeLeaving } from './use-ask-before-leaving.ts';
import { useUnfinished } from './workspace.ts';

export function Dialog(props: {
  title: string;
  isWide?: boolean;
  /** Called when the user closes the dialog. Without it, Escape does not close the dialog. */
  onClose?(): void;
  children: ComponentChildren;
}) {
  const { title, isWide = false, onClose, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close(); // Restores the focus. Removing the element alone does not.
  }, []);

  return (
    <dialog
      ref={dialog}
      class={isWide ? 'wide' : undefined}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClose={() => !onClose && dialog.current?.isConnected && dialog.current.showModal()} // after a second Escape
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}

/** A dialog that confirms an action that cannot be undone. */
export function Confirm(props: { title: string; text: string; action: string; onConfirm(): void; onClose(): void }) {
  const { title, text, action, onConfirm, onClose } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={onConfirm}>
          {action}
        </button>
      </footer>
    </Dialog>
  );
}

/** A dialog that shows a secret once. Escape does not close it. */
export function SecretDialog(props: { title: string; secret: string; hint: string; onClose(): void }) {
  const { title, secret, hint, onClose } = props;
  const field = useRef<HTMLInputElement>(null);
  const copied = useRef<HTMLSpanElement>(null);

  useAskBeforeLeaving(true);
  useUnfinished(() => 'The server cannot show the secret again. If you did not copy it, rotate it to get a new one.');

  async function copy(): Promise<void> {
    field.current?.select();
    const isCopied = await navigator.clipboard.writeText(secret).then(
      () => true,
      () => false, // Browsers allow it on https and localhost only. The keyboard can copy the selected text.
    );
    if (copied.current) copied.current.textContent = isCopied ? 'Copied' : 'Press Ctrl+C to copy the secret';
  }

  return (
    <Dialog title={title}>
      <p>{hint}</p>
      <label>
        Secret
        <input ref={field} class="secret" readOnly value={secret} onFocus={() => field.current?.select()} />
      </label>
      <p role="status">
        <span ref={copied} />
      </p>
      <footer>
        <button type="button" class="primary" onClick={copy}>
          Copy
        </button>
        <button type="button" onClick={onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  );
}

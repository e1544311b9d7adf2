// A form in a dialog. It allows one submission at a time and shows an error next to the form.

import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { endsSession, useWorkspace } from './workspace.ts';

export function FormDialog(props: {
  title: string;
  /** Label of the submit button. */
  action: string;
  isReady?: boolean;
  /** If it throws, the dialog shows the error and stays open. */
  onSubmit(form: FormData): Promise<void>;
  onClose(): void;
  /** Shown next to the error. */
  remedy?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { title, action, isReady = true, onSubmit, onClose, remedy, children } = props;
  const workspace = useWorkspace();
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const isSending = useRef(false);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (isSending.current) return;
    isSending.current = true;
    setBusy(true);
    try {
      await onSubmit(new FormData(event.currentTarget as HTMLFormElement));
    } catch (error) {
      if (!endsSession(error, workspace)) setProblem((error as Error).message);
    }
    isSending.current = false;
    setBusy(false);
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        {children}
        <p class="problem" role="alert">
          {problem} {problem && remedy}
        </p>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy || !isReady}>
            {action}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

export function Check(props: { name: string; value: string; isChecked: boolean; children: ComponentChildren }) {
  const { name, value, isChecked, children } = props;
  return (
    <label class="check">
      <input type="checkbox" name={name} value={value} defaultChecked={isChecked} />
      <span>{children}</span>
    </label>
  );
}

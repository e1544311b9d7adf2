// Asks before an action, runs it once, and shows its error in the dialog.

import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { errorText } from '../session/error-text.ts';
import { endsSession, useWorkspace } from '../session/workspace.ts';
import { Confirm } from './dialog.tsx';
import { Problem } from './field.tsx';

export function ConfirmWork(props: {
  title: string;
  action: string;
  /** If it throws, the dialog shows the error and stays open. */
  onConfirm(): Promise<void>;
  /** Returns another text for an error, or undefined. */
  explain?(error: unknown): string | undefined;
  onClose(): void;
  children: ComponentChildren;
}) {
  const { title, action, onConfirm, explain, onClose, children } = props;
  const workspace = useWorkspace();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const isSending = useRef(false);

  async function run(): Promise<void> {
    if (isSending.current) return;
    isSending.current = true;
    setBusy(true);
    try {
      await onConfirm();
    } catch (error) {
      if (!endsSession(error, workspace)) setProblem(explain?.(error) ?? errorText(error));
    }
    isSending.current = false;
    setBusy(false);
  }

  return (
    <Confirm title={title} action={action} isBusy={isBusy} onConfirm={() => void run()} onClose={onClose}>
      {children}
      <Problem text={problem} />
    </Confirm>
  );
}

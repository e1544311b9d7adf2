// A dialog with a form. It sends one request at a time, and shows each error at the field that caused it.

import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { errorText, fieldOf } from '../session/error-text.ts';
import { endsSession, useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Dialog } from './dialog.tsx';
import { Problem, useFocusOnError } from './field.tsx';

/** Errors by field. */
export type Faults = Record<string, string | undefined>;

interface Props {
  title: string;
  size?: 'mid' | 'wide';
  action: string;
  /** Fields of the API that the form has. Errors of other fields stand below the form. */
  fields?: string[];
  /** Returns the errors that the form can find itself. */
  check?(): Faults;
  /** If it throws, the dialog shows the error and stays open. */
  onSubmit(): Promise<void>;
  /** Returns another text for an error, or undefined. */
  explain?(error: unknown): string | undefined;
  onClose(): void;
  children(faults: Faults): ComponentChildren;
}

export function FormDialog({ title, size, action, onClose, children, ...submission }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const { faults, problem, attempts, isBusy, submit } = useSubmit(submission);
  const isOffline = useIsOffline();
  useFocusOnError(form, attempts);
  return (
    <Dialog title={title} {...(size && { size })} onClose={onClose}>
      <form ref={form} class="dialog-form" noValidate onSubmit={submit}>
        <div class="dialog-body">
          {children(faults)}
          <Problem text={problem} />
        </div>
        <footer class="dialog-foot">
          <div class="grow" />
          <button type="button" class="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="btn primary" disabled={isBusy || isOffline}>
            {action}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function useSubmit({
  fields = [],
  check,
  onSubmit,
  explain,
}: Pick<Props, 'fields' | 'check' | 'onSubmit' | 'explain'>) {
  const workspace = useWorkspace();
  const [faults, setFaults] = useState<Faults>({});
  const [problem, setProblem] = useState<string>();
  const [attempts, setAttempts] = useState(0);
  const [isBusy, setBusy] = useState(false);
  const isSending = useRef(false);
  return { faults, problem, attempts, isBusy, submit };

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (isSending.current) return;
    const found = check?.() ?? {};
    show(found, undefined);
    if (Object.values(found).some(Boolean)) return;
    isSending.current = true;
    setBusy(true);
    try {
      await onSubmit();
    } catch (error) {
      if (!endsSession(error, workspace)) showError(error);
    }
    isSending.current = false;
    setBusy(false);
  }

  function showError(error: unknown): void {
    const own = explain?.(error);
    const field = own === undefined ? fieldOf(error) : undefined;
    if (field === undefined || !fields.includes(field)) show({}, own ?? errorText(error));
    else show({ [field]: errorText(error) }, undefined);
  }

  function show(found: Faults, text: string | undefined): void {
    setFaults(found);
    setProblem(text);
    setAttempts((before) => before + 1);
  }
}

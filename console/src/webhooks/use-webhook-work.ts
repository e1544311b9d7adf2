// Runs an action on a webhook, once at a time, and reports its result or its error in the status strip.

import { useQueryClient } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import { useTell } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { endsSession, useWorkspace } from '../session/workspace.ts';

export interface WebhookWork {
  isBusy: boolean;
  /** Runs the action unless another one is in progress. Returns true if it succeeded. */
  run(action: () => Promise<void>): Promise<boolean>;
}

export function useWebhookWork(id: string): WebhookWork {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const tell = useTell();
  const isRunning = useRef(false);
  const [isBusy, setBusy] = useState(false);

  async function run(action: () => Promise<void>): Promise<boolean> {
    if (isRunning.current) return false;
    isRunning.current = true;
    setBusy(true);
    let isDone = true;
    try {
      await action();
    } catch (error) {
      isDone = false;
      if (!endsSession(error, workspace)) tell(errorText(error), { isProblem: true });
    }
    isRunning.current = false;
    setBusy(false);
    void queries.invalidateQueries({ queryKey: ['webhooks'] });
    void queries.invalidateQueries({ queryKey: ['deliveries', id] });
    return isDone;
  }

  return { isBusy, run };
}

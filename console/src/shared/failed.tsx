// A list or page that could not be loaded: the reason, and a way to try again.

import { errorText } from '../session/error-text.ts';

export function Failed({ error, onRetry }: { error: unknown; onRetry(): void }) {
  return (
    <div class="empty">
      <p role="alert">{errorText(error)}</p>
      <button type="button" class="btn" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

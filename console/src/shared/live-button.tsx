// The button that pauses and resumes live updates of a page.

import { useIsOffline } from '../session/workspace.ts';

export function LiveButton({ isLive, onChange }: { isLive: boolean; onChange(isLive: boolean): void }) {
  const isOffline = useIsOffline();
  return (
    <button
      type="button"
      class="btn quiet live-btn"
      aria-pressed={isLive}
      title={isLive ? 'Pause live updates' : 'Resume live updates'}
      onClick={() => onChange(!isLive)}
    >
      <i class={isLive ? 'pulse' : 'pulse idle'} />
      {isLive ? (isOffline ? 'Reconnecting…' : 'Live') : 'Paused'}
    </button>
  );
}

// Signs the user out, and asks first if unsaved work would be lost.

import { useState } from 'preact/hooks';
import { useWorkspace } from '../session/workspace.ts';
import { Confirm } from '../shared/dialog.tsx';

export function useSignOut() {
  const { unfinished, endSession } = useWorkspace();
  const [losses, setLosses] = useState<string[]>([]);

  function signOut(): void {
    const found = [...unfinished].map((tell) => tell()).filter(Boolean);
    setLosses(found);
    if (found.length === 0) endSession('');
  }

  const question = losses.length > 0 && (
    <Confirm
      title="Sign out without saving?"
      action="Sign out"
      onConfirm={() => endSession('')}
      onClose={() => setLosses([])}
    >
      {losses.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </Confirm>
  );
  return { signOut, question };
}

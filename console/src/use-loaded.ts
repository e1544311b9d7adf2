// Loads data when a view opens, and again on request.

import { useEffect, useState } from 'preact/hooks';
import { endsSession, useWorkspace } from './workspace.ts';

export interface Loaded<T> {
  value: T | undefined;
  problem: string;
  /** Number of responses so far, including errors. */
  answers: number;
  reload(): void;
}

/** Loads a value, and reloads it when an element of `because` changes. */
export function useLoaded<T>(load: () => Promise<T>, because: unknown[] = []): Loaded<T> {
  const workspace = useWorkspace();
  const [value, setValue] = useState<T>();
  const [problem, setProblem] = useState('');
  const [round, setRound] = useState(0);
  const [answers, setAnswers] = useState(0);

  useEffect(() => {
    let isOver = false;
    load().then(
      (found) => {
        if (isOver) return;
        setValue(() => found);
        setProblem('');
        setAnswers((n) => n + 1);
      },
      (error) => {
        if (isOver || endsSession(error, workspace)) return;
        setProblem((error as Error).message);
        setAnswers((n) => n + 1);
      },
    );
    return () => {
      isOver = true;
    };
  }, [round, ...because]);

  return { value, problem, answers, reload: () => setRound((n) => n + 1) };
}

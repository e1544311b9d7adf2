// Runs an import, which continues while the user opens other views. It ends with the session. The browser asks for
// confirmation before the user leaves the page.

import type { ImportResult } from 'plant-store/client';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useRef, useState } from 'preact/hooks';
import { useToasts } from './toasts.tsx';
import { useAskBeforeLeaving } from './use-ask-before-leaving.ts';
import { endsSession, useUnfinished, useWorkspace } from './workspace.ts';

export interface ImportRun {
  name: string;
  totalBytes: number;
  bytes: number;
  result: ImportResult;
  state: 'running' | 'done' | 'stopped' | 'failed';
  problem?: string;
}

interface Imports {
  run: ImportRun | undefined;
  /** Starts an import. Shows an error if one is running already. */
  start(files: File[]): void;
  stop(): void;
}

const NOTHING: ImportResult = { created: 0, replayed: 0, failed: 0, errors: [] };

const ImportContext = createContext<Imports>({ run: undefined, start() {}, stop() {} });

export function useImport(): Imports {
  return useContext(ImportContext);
}

export function ImportProvider({ children }: { children: ComponentChildren }) {
  const workspace = useWorkspace();
  const [run, setRun] = useState<ImportRun>();
  const stopping = useRef<AbortController>(undefined);
  const isRunning = run?.state === 'running';
  const tell = useToasts();

  useUnfinished(() =>
    isRunning
      ? `The import of ${run.name} did not finish. Sign in and import the file again. Nothing is stored twice.`
      : '',
  );

  useAskBeforeLeaving(isRunning);

  function start([file, ...others]: File[]): void {
    if (!file) return;
    if (isRunning) {
      tell('Another import is running. Wait until it finishes, or stop it.', { isProblem: true });
      return;
    }
    const begun: ImportRun = { name: file.name, totalBytes: file.size, bytes: 0, result: NOTHING, state: 'running' };
    const type = typeOf(file);
    const problem =
      (others.length > 0 && 'Nothing was imported. Choose one file at a time.') ||
      (!type && 'The file name must end in .csv, .ndjson or .jsonl');
    if (problem || !type) {
      setRun({ ...begun, state: 'failed', problem: problem || '' });
      return;
    }
    setRun(begun);
    void send(file, type);
  }

  async function send(file: File, type: 'text/csv' | 'application/x-ndjson'): Promise<void> {
    const ending = new AbortController();
    stopping.current = ending;
    const show = (part: Partial<ImportRun>) => setRun((now) => now && { ...now, ...part });
    try {
      const result = await workspace.client.importFile(file, {
        type,
        signal: ending.signal,
        onProgress: ({ bytes, result }) => show({ bytes, result }),
      });
      show({ state: 'done', bytes: file.size, result });
    } catch (error) {
      if (ending.signal.aborted) show({ state: 'stopped' });
      else if (!endsSession(error, workspace)) show({ state: 'failed', problem: (error as Error).message });
    }
  }

  const imports = { run, start, stop: () => stopping.current?.abort() };
  return <ImportContext.Provider value={imports}>{children}</ImportContext.Provider>;
}

function typeOf({ name }: File): 'text/csv' | 'application/x-ndjson' | undefined {
  if (/\.csv$/i.test(name)) return 'text/csv';
  return /\.(ndjson|jsonl)$/i.test(name) ? 'application/x-ndjson' : undefined;
}

// The file that the user chose and the import that runs. They stay while the user opens other views, and end with the
// session. The browser asks for confirmation before the user leaves the page.

import type { ImportResult, PlantStoreClient } from 'plant-store/client';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useRef, useState } from 'preact/hooks';
import { url as sampleUrl } from 'sample-species';
import { useTell } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { endsSession, useUnfinished, useWorkspace } from '../session/workspace.ts';
import { number } from '../shared/numbers.ts';
import { useAskBeforeLeaving } from '../shared/use-ask-before-leaving.ts';
import { type Columns, columnsOf, withColumns } from './columns.ts';
import { type FileHead, readHead } from './file-records.ts';

export interface ChosenFile {
  /** Differs for each choice, also of the same file. */
  key: number;
  name: string;
  file: Blob;
  head: FileHead;
  columns: Columns;
}

export interface ImportRun {
  chosen: ChosenFile;
  startedMs: number;
  endedMs?: number;
  /** Number of bytes that were imported. */
  bytes: number;
  result: ImportResult;
  state: 'running' | 'done' | 'stopped' | 'failed';
  problem?: string;
}

interface Imports {
  /** The file that the user checks now. */
  chosen: ChosenFile | undefined;
  run: ImportRun | undefined;
  /** Why the last choice failed. Empty otherwise. */
  problem: string;
  choose(files: Iterable<File>): void;
  setColumns(columns: Columns): void;
  /** Starts the import of the file. */
  start(chosen: ChosenFile): void;
  /** Imports the species that ship with the project. */
  startSample(): void;
  stop(): void;
  /** Goes back to the choice of a file. Does not stop an import. */
  reset(): void;
}

const NOTHING: ImportResult = { created: 0, replayed: 0, failed: 0, errors: [] };

const ImportContext = createContext<Imports | undefined>(undefined);

export function useImport(): Imports {
  const imports = useContext(ImportContext);
  if (!imports) throw new Error('useImport requires an ImportProvider');
  return imports;
}

export function ImportProvider({ children }: { children: ComponentChildren }) {
  const [chosen, setChosen] = useState<ChosenFile>();
  const [problem, setProblem] = useState('');
  const { run, start, stop, forget } = useRun();
  const tries = useRef(0);

  /** Reads the beginning of a file. Only the last choice counts. */
  async function open(give: () => Promise<{ name: string; file: Blob }>, use: (chosen: ChosenFile) => void) {
    const key = ++tries.current;
    setProblem('');
    forget();
    try {
      const { name, file } = await give();
      const head = await readHead(file, name);
      if (key === tries.current) use({ key, name, file, head, columns: columnsOf(head) });
    } catch (error) {
      if (key === tries.current) setProblem(fileErrorText(error));
    }
  }

  function begin(file: ChosenFile): void {
    setChosen(undefined);
    start(file);
  }

  const imports: Imports = {
    chosen,
    run,
    problem,
    choose(files) {
      const [file, ...others] = files;
      if (!file) return;
      void open(async () => {
        if (others.length > 0) throw new Error('Choose one file at a time.');
        return { name: file.name, file };
      }, setChosen);
    },
    setColumns: (columns) => setChosen((now) => now && { ...now, columns }),
    start: begin,
    startSample: () => void open(loadSample, begin),
    stop,
    reset() {
      tries.current++;
      setChosen(undefined);
      setProblem('');
      forget();
    },
  };
  return <ImportContext.Provider value={imports}>{children}</ImportContext.Provider>;
}

function useRun() {
  const workspace = useWorkspace();
  const [run, setRun] = useState<ImportRun>();
  const stopping = useRef<AbortController>(undefined);
  const isRunning = run?.state === 'running';
  const tell = useTell();

  useUnfinished(() =>
    isRunning
      ? `The import of ${run.chosen.name} did not finish. Sign in and import the file again. Nothing is stored twice.`
      : '',
  );
  useAskBeforeLeaving(isRunning);

  async function send(chosen: ChosenFile): Promise<void> {
    const ending = new AbortController();
    stopping.current = ending;
    setRun({ chosen, startedMs: Date.now(), bytes: 0, result: NOTHING, state: 'running' });
    const show = (part: Partial<ImportRun>) => setRun((now) => (now?.chosen === chosen ? { ...now, ...part } : now));
    const end = (part: Partial<ImportRun>) => show({ endedMs: Date.now(), ...part });
    try {
      const result = await importFile(workspace.client, chosen, ending.signal, show);
      end({ state: 'done', bytes: chosen.file.size, result });
      tell(`Import finished: ${number(result.created)} added, ${number(result.failed)} refused`);
    } catch (error) {
      if (ending.signal.aborted) return end({ state: 'stopped' });
      if (endsSession(error, workspace)) return;
      end({ state: 'failed', problem: fileErrorText(error) });
      tell('The import did not finish', { isProblem: true });
    }
  }

  return {
    run,
    start: (chosen: ChosenFile) => void (isRunning || send(chosen)),
    stop: () => stopping.current?.abort(),
    forget: () => setRun((now) => (now?.state === 'running' ? now : undefined)),
  };
}

function importFile(
  client: PlantStoreClient,
  { file, head, columns }: ChosenFile,
  signal: AbortSignal,
  onProgress: (progress: { bytes: number; result: ImportResult }) => void,
): Promise<ImportResult> {
  return client.importFile(withColumns(file, head, columns), {
    type: head.type,
    signal,
    onProgress: ({ bytes, result }) => onProgress({ bytes, result }),
  });
}

async function loadSample(): Promise<{ name: string; file: Blob }> {
  const response = await fetch(sampleUrl);
  if (!response.ok) throw new Error('The sample species could not be loaded. Reload the page and try again.');
  return { name: 'species.csv', file: await response.blob() };
}

/** Returns the words for an error of reading or sending a file. */
export function fileErrorText(error: unknown): string {
  const isUnreadable = error instanceof DOMException && error.name === 'NotReadableError';
  return isUnreadable ? 'The file cannot be read. It may have changed. Choose it again.' : errorText(error);
}

// The file that the user chose and the import that runs. They stay while the user opens other views, and end with the
// session. The browser asks for confirmation before the user leaves the page.

import type { ImportResult, PlantStoreClient } from 'plant-store/client';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useRef, useState } from 'preact/hooks';
import { url as sampleUrl } from 'sample-species';
import type { CsvChoice } from '../../../src/files/convert-csv.ts';
import { useTell } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { endsSession, useUnfinished, useWorkspace } from '../session/workspace.ts';
import { number } from '../shared/numbers.ts';
import { useAskBeforeLeaving } from '../shared/use-ask-before-leaving.ts';
import { type Columns, columnsOf, withColumns } from './columns.ts';
import { type FileHead, readHead } from './file-records.ts';
import { type PlainFile, toPlainFile } from './plain-file.ts';

export interface ChosenFile extends PlainFile {
  /** Differs for each choice, also of the same file. */
  key: number;
  name: string;
  /** The file as the user has it. */
  source: Blob;
  /** What the user chose about the way in which it is written. */
  choice: CsvChoice;
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
  /** True while a file is recognised and converted. */
  isReading: boolean;
  choose(files: Iterable<File>): void;
  setColumns(columns: Columns): void;
  /** Reads the chosen file again, in another way. */
  readAs(choice: CsvChoice): void;
  /** Starts the import of the file. */
  start(chosen: ChosenFile): void;
  /** Imports the species that ship with the project. */
  startSample(): void;
  stop(): void;
  /** Goes back to the choice of a file. Does not stop an import. */
  reset(): void;
}

/** A file to open. `key` is the key of an earlier choice of the same file. */
type Opened = Pick<ChosenFile, 'name' | 'source'> & Partial<Pick<ChosenFile, 'choice' | 'key'>>;

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
  const [isReading, setReading] = useState(false);
  const { run, start, stop, forget } = useRun();
  const tries = useRef(0);

  /** Converts a file and reads its beginning. Only the last choice counts. */
  async function open(give: () => Promise<Opened>, use: (chosen: ChosenFile) => void) {
    const attempt = ++tries.current;
    setProblem('');
    setReading(true);
    forget();
    try {
      const { name, source, choice = {}, key = attempt } = await give();
      const plain = await toPlainFile(source, name, choice);
      const head = await readHead(plain.file, name);
      if (attempt === tries.current) use({ key, name, source, choice, ...plain, head, columns: columnsOf(head) });
    } catch (error) {
      if (attempt === tries.current) setProblem(fileErrorText(error));
    }
    if (attempt === tries.current) setReading(false);
  }

  function begin(file: ChosenFile): void {
    setChosen(undefined);
    start(file);
  }

  const imports: Imports = {
    chosen,
    run,
    problem,
    isReading,
    choose(files) {
      const [file, ...others] = files;
      if (!file) return;
      void open(async () => {
        if (others.length > 0) throw new Error('Choose one file at a time.');
        return { name: file.name, source: file };
      }, setChosen);
    },
    setColumns: (columns) => setChosen((now) => now && { ...now, columns }),
    readAs: (choice) => void (chosen && open(async () => ({ ...chosen, choice }), setChosen)),
    start: begin,
    startSample: () => void open(loadSample, begin),
    stop,
    reset() {
      tries.current++;
      setChosen(undefined);
      setProblem('');
      setReading(false);
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

async function loadSample(): Promise<Opened> {
  const response = await fetch(sampleUrl);
  if (!response.ok) throw new Error('The sample species could not be loaded. Reload the page and try again.');
  return { name: 'species.csv', source: await response.blob() };
}

/** Returns the words for an error of reading or sending a file. */
export function fileErrorText(error: unknown): string {
  const isUnreadable = error instanceof DOMException && error.name === 'NotReadableError';
  return isUnreadable ? 'The file cannot be read. It may have changed. Choose it again.' : errorText(error);
}

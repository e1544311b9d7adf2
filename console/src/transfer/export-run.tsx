// Runs an export, which continues while the user opens other views. It ends with the session.

import type { FileType, Filter, PlantRecord, PlantStoreClient } from 'plant-store/client';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useRef, useState } from 'preact/hooks';
import { useTell } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { endsSession, useWorkspace } from '../session/workspace.ts';
import { bytes } from '../shared/numbers.ts';
import { useAskBeforeLeaving } from '../shared/use-ask-before-leaving.ts';
import { hasFilter } from './filter.ts';
import { download, fileName, headerOf, printRecords } from './plant-file.ts';

/** Number of chunks that are joined into one Blob, which the browser can move to disk. */
const CHUNKS = 256;
const RECORDS_AT_ONCE = 1000;

/** Progress of an export: the plants or, of the whole store, the bytes. */
export interface ExportProgress {
  plants?: number;
  bytes?: number;
}

interface Exports {
  /** Undefined unless an export runs. */
  progress: ExportProgress | undefined;
  problem: string;
  /** Exports the plants that match. An empty filter matches all. */
  start(filter: Filter, type: FileType): void;
  stop(): void;
}

const ExportContext = createContext<Exports | undefined>(undefined);

export function useExport(): Exports {
  const exports = useContext(ExportContext);
  if (!exports) throw new Error('useExport requires an ExportProvider');
  return exports;
}

export function ExportProvider({ children }: { children: ComponentChildren }) {
  const workspace = useWorkspace();
  const [progress, setProgress] = useState<ExportProgress>();
  const [problem, setProblem] = useState('');
  const stopping = useRef<AbortController>(undefined);
  const tell = useTell();
  useAskBeforeLeaving(progress !== undefined);

  async function save(filter: Filter, type: FileType): Promise<void> {
    const ending = new AbortController();
    stopping.current = ending;
    setProgress({});
    setProblem('');
    try {
      const collect = hasFilter(filter) ? collectMatching : collectAll;
      const file = await collect(workspace.client, { filter, type, signal: ending.signal, onProgress: setProgress });
      const name = fileName(type);
      download(file, name);
      tell(`Exported ${name}, ${bytes(file.size)}`);
    } catch (error) {
      if (!ending.signal.aborted && !endsSession(error, workspace)) setProblem(errorText(error));
    }
    setProgress(undefined);
  }

  const exports: Exports = {
    progress,
    problem,
    start: (filter, type) => void (progress || save(filter, type)),
    stop: () => stopping.current?.abort(),
  };
  return <ExportContext.Provider value={exports}>{children}</ExportContext.Provider>;
}

interface Wanted {
  filter: Filter;
  type: FileType;
  signal: AbortSignal;
  onProgress(progress: ExportProgress): void;
}

/** Returns a consistent snapshot of the whole store. */
async function collectAll(client: PlantStoreClient, { type, signal, onProgress }: Wanted): Promise<Blob> {
  let file = new Blob([], { type });
  let chunks: BlobPart[] = [];
  const reader = (await client.exportFile({ type, signal })).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    chunks.push(read.value);
    if (chunks.length < CHUNKS) continue;
    file = new Blob([file, ...chunks], { type });
    chunks = [];
    onProgress({ bytes: file.size });
  }
  return new Blob([file, ...chunks], { type });
}

/** Returns the plants that match, page by page. */
async function collectMatching(client: PlantStoreClient, { filter, type, signal, onProgress }: Wanted): Promise<Blob> {
  let file = new Blob([headerOf(type)], { type });
  let records: PlantRecord[] = [];
  let plants = 0;
  for await (const record of client.walk(filter, { signal })) {
    if (records.push(record) < RECORDS_AT_ONCE) continue;
    file = new Blob([file, ...printRecords(records, type)], { type });
    plants += records.length;
    records = [];
    onProgress({ plants });
  }
  return new Blob([file, ...printRecords(records, type)], { type });
}

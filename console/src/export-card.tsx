// Exports a consistent snapshot of all plants and saves it as a file.

import { useRef, useState } from 'preact/hooks';
import { Problem } from './show.tsx';
import { endsSession, useWorkspace } from './workspace.ts';

const FORMATS = [
  { name: 'CSV', type: 'text/csv', ending: 'csv' },
  { name: 'NDJSON', type: 'application/x-ndjson', ending: 'ndjson' },
] as const;
/** Number of chunks that are joined into one Blob, which the browser can move to disk. */
const CHUNKS = 256;

export function ExportCard() {
  const workspace = useWorkspace();
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const stopping = useRef<AbortController>(undefined);

  async function save({ type, ending }: (typeof FORMATS)[number]): Promise<void> {
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    setBusy(true);
    setProblem('');
    try {
      const stream = await workspace.client.exportFile({ type, signal });
      const file = await collect(stream, type, (bytes) => setSaid(`Exporting: ${megabytes(bytes)} so far`));
      download(file, `plants-${new Date().toISOString().slice(0, 10)}.${ending}`);
      setSaid(`Exported ${megabytes(file.size)}`);
    } catch (error) {
      setSaid('');
      if (!signal.aborted && !endsSession(error, workspace)) setProblem((error as Error).message);
    }
    setBusy(false);
  }

  return (
    <section class="card" aria-labelledby="export-title">
      <h2 id="export-title">Export</h2>
      <p>Export a consistent snapshot of all plants. Import the file into an empty store to get the same plants.</p>
      {FORMATS.map((format) => (
        <button key={format.name} type="button" aria-disabled={isBusy} onClick={() => isBusy || void save(format)}>
          Export as {format.name}
        </button>
      ))}
      {isBusy && (
        <button type="button" onClick={() => stopping.current?.abort()}>
          Stop
        </button>
      )}
      <p role="status">{said}</p>
      <Problem text={problem} />
    </section>
  );
}

async function collect(
  stream: ReadableStream<Uint8Array>,
  type: string,
  onBytes: (bytes: number) => void,
): Promise<Blob> {
  let file = new Blob([], { type });
  let chunks: BlobPart[] = [];
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    chunks.push(read.value as Uint8Array<ArrayBuffer>);
    if (chunks.length < CHUNKS) continue;
    file = new Blob([file, ...chunks], { type });
    chunks = [];
    onBytes(file.size);
  }
  return new Blob([file, ...chunks], { type });
}

function download(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toLocaleString(undefined, { maximumFractionDigits: 1 })} MB`;
}

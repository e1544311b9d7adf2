// The field for a file: the user drops a file on it or chooses one.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useImport } from './import-run.tsx';

const ACCEPTED = '.csv,.tsv,.txt,.ndjson,.jsonl,text/csv,application/x-ndjson';

export function DropZone(props: {
  class: string;
  isDisabled: boolean;
  /** Called after a file was given. */
  onGiven?(): void;
  children: ComponentChildren;
}) {
  const { choose } = useImport();
  const [isOver, setOver] = useState(false);

  useEffect(() => {
    for (const type of ['dragover', 'drop']) addEventListener(type, keepPage);
    return () => {
      for (const type of ['dragover', 'drop']) removeEventListener(type, keepPage);
    };
  }, []);

  function give(files: FileList | null | undefined): void {
    if (props.isDisabled || !files || files.length === 0) return;
    choose(files);
    props.onGiven?.();
  }

  return (
    <label
      class={isOver && !props.isDisabled ? `${props.class} over` : props.class}
      onDragOver={() => setOver(true)}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        give(event.dataTransfer?.files);
      }}
    >
      <input
        type="file"
        accept={ACCEPTED}
        disabled={props.isDisabled}
        onChange={({ currentTarget: input }) => {
          give(input.files);
          input.value = ''; // Otherwise choosing the same file again has no effect.
        }}
      />
      {props.children}
    </label>
  );
}

/** Prevents the browser from opening a file that was dropped beside the field. */
function keepPage(event: Event): void {
  event.preventDefault();
}

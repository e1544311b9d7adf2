// Asks the server what an import would do, without storing anything.

import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import type { ImportResult } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { useWorkspace } from '../session/workspace.ts';
import { withColumns } from './columns.ts';
import type { ChosenFile } from './import-run.tsx';

/** Size up to which the whole file is checked at once. */
const SMALL_BYTES = 4_000_000;

export interface DryRun {
  result: ImportResult | undefined;
  /** False while the result is about an earlier choice of columns or of the encoding. */
  isCurrent: boolean;
  /** True if the result is about all lines of the file. */
  isWhole: boolean;
  isChecking: boolean;
  error: Error | null;
  checkAgain(): void;
  /** Checks all lines. Undefined if this is done or in progress. */
  checkAll: (() => void) | undefined;
  /** Stops the check of all lines. Undefined unless it is in progress. */
  stop: (() => void) | undefined;
}

export function useDryRun({ key, file, dialect, head, columns }: ChosenFile): DryRun {
  const { client } = useWorkspace();
  const isSmall = file.size <= SMALL_BYTES || head.bytes >= file.size;
  const [wantsAll, setWantsAll] = useState(isSmall);
  const check = (isWhole: boolean) => ({
    queryKey: ['dry-run', key, dialect, columns, isWhole],
    async queryFn({ signal }: { signal: AbortSignal }) {
      const part = isWhole ? file : file.slice(0, head.bytes);
      return client.importFile(withColumns(part, head, columns), { type: head.type, dryRun: true, signal });
    },
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  const first = useQuery({ ...check(false), enabled: !isSmall });
  const all = useQuery({ ...check(true), enabled: wantsAll });
  const isWhole = wantsAll && (all.data !== undefined || isSmall);
  const shown = isWhole ? all : first;
  const isCheckingAll = wantsAll && !isSmall && all.isFetching;
  return {
    result: shown.isError ? undefined : shown.data,
    isCurrent: !shown.isPlaceholderData,
    isWhole,
    isChecking: all.isFetching || first.isFetching,
    error: all.error ?? first.error,
    checkAgain: () => void (wantsAll ? all : first).refetch(),
    checkAll: isSmall || wantsAll ? undefined : () => setWantsAll(true),
    stop: isCheckingAll ? () => setWantsAll(false) : undefined,
  };
}

/** Returns the fields that an error of a line is about. */
export function badFields({ code, message }: ImportResult['errors'][number]['error']): string[] {
  if (code === 'id_taken') return ['id'];
  return Array.from(message.matchAll(/"(id|name|tag)" (?:is|must|has|cannot)/g), ([, field]) => field as string);
}

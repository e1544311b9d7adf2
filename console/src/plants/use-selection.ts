// The selected plants: single ones, or all that match the filter.

import type { PlantRecord } from 'plant-store/client';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

export interface Selection {
  /** True if all plants that match are selected, also those that are not loaded. */
  isAll: boolean;
  /** The selected plants, unless all are. */
  records: ReadonlyMap<bigint, PlantRecord>;
  count: number;
  has(id: bigint): boolean;
  toggle(record: PlantRecord): void;
  /** Selects the loaded plants of these rows. */
  add(records: PlantRecord[]): void;
  selectAll(): void;
  clear(): void;
}

/** `key` names the query: another one has another selection. */
export function useSelection(key: string, total: number): Selection {
  const [records, setRecords] = useState<ReadonlyMap<bigint, PlantRecord>>(new Map());
  const [isAll, setAll] = useState(false);
  const first = useRef(true);
  useEffect(() => {
    if (first.current) first.current = false;
    else {
      setRecords(new Map());
      setAll(false);
    }
  }, [key]);
  return useMemo(
    () => ({
      isAll,
      records,
      count: isAll ? total : records.size,
      has: (id) => isAll || records.has(id),
      toggle(record) {
        setAll(false);
        const next = new Map(records);
        if (!next.delete(record.id)) next.set(record.id, record);
        setRecords(next);
      },
      add(added) {
        setRecords(new Map([...records, ...added.map((record) => [record.id, record] as const)]));
      },
      selectAll: () => setAll(true),
      clear() {
        setRecords(new Map());
        setAll(false);
      },
    }),
    [records, isAll, total],
  );
}

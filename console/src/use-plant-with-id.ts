// The plant whose id is what is searched for, if that is one: words of names are all that a search looks at.

import { type PlantRecord, PlantStoreError } from 'plant-store/client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useWorkspace } from './workspace.ts';

export interface Search {
  q: string;
  tag: string | undefined;
}

export function usePlantWithId({ q, tag }: Search): { plant: PlantRecord | undefined; read(): void } {
  const { client } = useWorkspace();
  const [plant, setPlant] = useState<PlantRecord>();
  /** Only the newest answer counts. */
  const newest = useRef(0);

  const read = useCallback(() => {
    const own = ++newest.current;
    const id = toId(q);
    if (id === undefined) return setPlant(undefined);
    client.get(id).then(
      ({ record }) => {
        if (own === newest.current) setPlant(tag === undefined || record.tag === tag ? record : undefined);
      },
      (error) => {
        const isGone = error instanceof PlantStoreError && error.code === 'not_found';
        if (own === newest.current && isGone) setPlant(undefined);
      },
    );
  }, [client, q, tag]);

  useEffect(() => {
    setPlant(undefined);
    read();
  }, [read]);
  return { plant, read };
}

/** What is written is an id, if it is an integer of 64 bits. */
export function toId(text: string): bigint | undefined {
  if (!/^-?\d{1,20}$/.test(text.trim())) return undefined;
  const id = BigInt(text.trim());
  return BigInt.asIntN(64, id) === id ? id : undefined;
}

// The plant whose id is what is searched for, if that is one: words of names are all that a search looks at.

import { type PlantRecord, PlantStoreError } from 'plant-store/client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { endsSession, useWorkspace } from './workspace.ts';

export interface Search {
  q: string;
  tag: string | undefined;
}

/** What could not be read is tried again by itself. */
const AGAIN_MS = 3000;

interface Found {
  plant: PlantRecord | undefined;
  /** It may be there: nobody has said yet that it is not. */
  isPending: boolean;
}

export function usePlantWithId({ q, tag }: Search): Found & { read(): void } {
  const workspace = useWorkspace();
  const { client } = workspace;
  const [found, setFound] = useState<Found>({ plant: undefined, isPending: false });
  /** Only the newest answer counts. */
  const newest = useRef(0);

  const read = useCallback(() => {
    const own = ++newest.current;
    const id = toId(q);
    if (id !== undefined) ask(id);
    else setFound({ plant: undefined, isPending: false });

    function ask(wanted: bigint): void {
      client.get(wanted).then(({ record }) => take(tag === undefined || record.tag === tag ? record : undefined), fail);

      function fail(error: unknown): void {
        if (error instanceof PlantStoreError && error.code === 'not_found') take(undefined);
        else if (!endsSession(error, workspace)) setTimeout(() => own === newest.current && ask(wanted), AGAIN_MS);
      }
    }

    function take(plant: PlantRecord | undefined): void {
      if (own === newest.current) setFound({ plant, isPending: false });
    }
  }, [client, q, tag]);

  useEffect(() => {
    setFound({ plant: undefined, isPending: toId(q) !== undefined });
    read();
    return () => {
      newest.current++;
    };
  }, [read]);
  return { ...found, read };
}

/** What is written is an id, if it is an integer of 64 bits. */
export function toId(text: string): bigint | undefined {
  if (!/^-?\d{1,20}$/.test(text.trim())) return undefined;
  const id = BigInt(text.trim());
  return BigInt.asIntN(64, id) === id ? id : undefined;
}

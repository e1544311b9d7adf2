// Finds the plant whose id equals the search text. The search of the API compares only words of names.

import { type PlantRecord, PlantStoreError } from 'plant-store/client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { endsSession, useWorkspace } from './workspace.ts';

export interface Search {
  q: string;
  tag: string | undefined;
}

/** Delay before a failed request is retried. */
const RETRY_MS = 3000;

interface Found {
  plant: PlantRecord | undefined;
  /** True until the server has responded. */
  isPending: boolean;
}

export function usePlantWithId({ q, tag }: Search): Found & { read(): void } {
  const workspace = useWorkspace();
  const { client } = workspace;
  const [found, setFound] = useState<Found>({ plant: undefined, isPending: false });
  /** Number of the newest request. Responses to older ones are ignored. */
  const newest = useRef(0);

  const read = useCallback(() => {
    const own = ++newest.current;
    const id = toId(q);
    if (id !== undefined) request(id);
    else setFound({ plant: undefined, isPending: false });

    function request(wanted: bigint): void {
      client.get(wanted).then(({ record }) => take(tag === undefined || record.tag === tag ? record : undefined), fail);

      function fail(error: unknown): void {
        if (error instanceof PlantStoreError && error.code === 'not_found') take(undefined);
        else if (!endsSession(error, workspace)) setTimeout(() => own === newest.current && request(wanted), RETRY_MS);
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

/** Returns the id, or undefined if the text is not a 64-bit integer. */
export function toId(text: string): bigint | undefined {
  if (!/^-?\d{1,20}$/.test(text.trim())) return undefined;
  const id = BigInt(text.trim());
  return BigInt.asIntN(64, id) === id ? id : undefined;
}

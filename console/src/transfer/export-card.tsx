// Exports all plants, or those that match the filter in the URL, as a file.

import { useQuery } from '@tanstack/preact-query';
import type { FileType, Filter } from 'plant-store/client';
import { useEffect, useState } from 'preact/hooks';
import { useSummary } from '../session/queries.ts';
import { useWorkspace } from '../session/workspace.ts';
import { Problem, Segments } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import { bytes, count, number } from '../shared/numbers.ts';
import { TagDot, tagText } from '../shared/plant-text.tsx';
import { type ExportProgress, useExport } from './export-run.tsx';
import { hasFilter } from './filter.ts';
import { Meter, percentOf } from './meter.tsx';

const FORMATS: { value: FileType; content: string }[] = [
  { value: 'text/csv', content: 'CSV' },
  { value: 'application/x-ndjson', content: 'NDJSON' },
];

export function ExportCard({ filter }: { filter: Filter }) {
  const { progress, problem, start, stop } = useExport();
  const isFiltered = hasFilter(filter);
  const [what, setWhat] = useState<'all' | 'filter'>('filter');
  const [type, setType] = useState<FileType>('text/csv');
  const total = useSummary()?.plants;
  const matching = useMatching(filter);
  const isAll = !isFiltered || what === 'all';
  const plants = isAll ? total : matching?.plants;
  useEffect(() => setWhat('filter'), [filter]);

  return (
    <section class="card pad" aria-labelledby="export-title">
      <header class="card-head flat">
        <h2 id="export-title">Export</h2>
      </header>
      <div class="export">
        {isFiltered && (
          <div class="field">
            <span class="legend">What</span>
            <Segments
              label="What"
              class="wide"
              value={what}
              options={[
                { value: 'all', content: total === undefined ? 'All plants' : `All ${count(total, 'plant')}` },
                {
                  value: 'filter',
                  content: (
                    <>
                      Current filter <span class="seg-n">{matching && matchText(matching)}</span>
                    </>
                  ),
                },
              ]}
              onChange={(value) => setWhat(value)}
            />
            {!isAll && <FilterText filter={filter} />}
          </div>
        )}
        <div class="field">
          <span class="legend">Format</span>
          <Segments label="Format" class="wide" value={type} options={FORMATS} onChange={(value) => setType(value)} />
        </div>
        <div>
          {progress ? (
            <Running progress={progress} plants={plants} onStop={stop} />
          ) : (
            <button type="button" class="btn block" onClick={() => start(isAll ? {} : filter, type)}>
              <Icon name="download" />
              Export{' '}
              {plants === undefined || (!isAll && matching?.isMore)
                ? isAll
                  ? 'all plants'
                  : 'the matching plants'
                : count(plants, 'plant')}
            </button>
          )}
          <Problem text={problem} />
        </div>
      </div>
      <p class="help">
        {isAll
          ? 'A consistent snapshot of the store. Importing the file into an empty store gives the same plants.'
          : 'The plants that match, in the order of their ids. The file can be imported again.'}
      </p>
    </section>
  );
}

function useMatching(filter: Filter) {
  const { client } = useWorkspace();
  const { data } = useQuery({
    queryKey: ['count', filter],
    queryFn: ({ signal }) => client.count(filter, { signal }),
    enabled: hasFilter(filter),
  });
  return data;
}

function matchText({ plants, isMore }: { plants: number; isMore: boolean }): string {
  return `${isMore ? 'over ' : ''}${number(plants)}`;
}

function FilterText({ filter: { tag = [], untagged = false, q } }: { filter: Filter }) {
  return (
    <p class="help filter-text">
      {q !== undefined && (
        <span>
          Search{' '}
          <b>
            <bdi>{q}</bdi>
          </b>
        </span>
      )}
      {[tag].flat().map((one) => (
        <span key={one}>
          <TagDot of={one} />{' '}
          <b>
            <bdi>{tagText(one)}</bdi>
          </b>
        </span>
      ))}
      {untagged && (
        <span>
          <TagDot of={undefined} /> <b>No tag</b>
        </span>
      )}
    </p>
  );
}

function Running(props: { progress: ExportProgress; plants: number | undefined; onStop(): void }) {
  const { progress, plants = 0, onStop } = props;
  return (
    <div class="prog">
      <p class="prog-h" role="status">
        {progress.plants === undefined
          ? `Exporting: ${bytes(progress.bytes ?? 0)} so far`
          : `Exporting: ${number(progress.plants)} of ${count(plants, 'plant')}`}
      </p>
      {progress.plants !== undefined && <Meter percent={percentOf(progress.plants, plants)} label="Exported" />}
      <button type="button" class="btn block" onClick={onStop}>
        Stop export
      </button>
    </div>
  );
}

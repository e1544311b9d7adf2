// The dashboard: totals, plants by tag, changes over time and the latest changes.

import type { Change, Summary } from 'plant-store/client';
import { useEffect, useState } from 'preact/hooks';
import { ChangesChart } from './changes-chart.tsx';
import { LastChanges } from './last-changes.tsx';
import { Problem, Tag } from './show.tsx';
import { endsSession, useWorkspace } from './workspace.ts';

const LAST = 20;
const REFRESH_EVERY_MS = 5000;
/** The summary can be some seconds old, so more than one page of changes can follow its last change. */
const PAGE_LIMIT = 1000;
const MAX_PAGES = 50;
const TAGS_SHOWN = 12;

export function Dashboard() {
  const workspace = useWorkspace();
  const { client, live } = workspace;
  const [summary, setSummary] = useState<Summary>();
  const [changes, setChanges] = useState<Change[]>([]);
  const [problem, setProblem] = useState('');

  useEffect(() => {
    let isBegun = false;
    let newestSeq = 0;
    let countedSeq = 0;
    let arrived: Change[] = [];
    let timer: number | undefined;
    void begin();
    const stop = live.listen((change) => {
      if (!change) return void begin();
      arrived = [change, ...arrived].slice(0, LAST);
      timer ??= window.setTimeout(show, REFRESH_EVERY_MS / 10);
    });
    // The summary can be some seconds old. It is reloaded until it includes the newest change.
    const ticking = window.setInterval(() => {
      if (!isBegun) void begin();
      else if (countedSeq < newestSeq) void count();
    }, REFRESH_EVERY_MS);
    return () => {
      stop();
      clearTimeout(timer);
      clearInterval(ticking);
    };

    async function begin(): Promise<void> {
      const found = await count();
      let after = found && Math.max(0, found.lastChange - LAST);
      isBegun = true;
      for (let pages = 0; after !== undefined && pages < MAX_PAGES; pages++) {
        const page = await client.changes({ after, limit: PAGE_LIMIT }).catch(showProblem);
        if (page?.length === 0) return;
        if (page) add(page);
        after = page?.at(-1)?.seq;
      }
      isBegun = after !== undefined; // After a failure, the next tick retries.
    }

    function show(): void {
      timer = undefined;
      add(arrived);
      arrived = [];
    }

    function add(more: Change[]): void {
      newestSeq = Math.max(newestSeq, ...more.map(({ seq }) => seq));
      setChanges((known) => newest(known, more));
    }

    async function count(): Promise<Summary | undefined> {
      try {
        const found = await client.summary();
        countedSeq = found.lastChange;
        setSummary(found);
        setProblem('');
        return found;
      } catch (error) {
        return showProblem(error);
      }
    }

    function showProblem(error: unknown): undefined {
      if (!endsSession(error, workspace)) setProblem((error as Error).message);
    }
  }, [client, live]);

  return (
    <section class="page" aria-labelledby="dashboard-title">
      <h1 id="dashboard-title">Dashboard</h1>
      <Problem text={problem} />
      {summary && (
        <div class="cards">
          <Totals summary={summary} />
          <ByTag summary={summary} />
          <ChangesChart hours={summary.changes} />
          <LastChanges changes={changes} />
        </div>
      )}
    </section>
  );
}

function Totals({ summary: { plants, tags, changes } }: { summary: Summary }) {
  const dayAgoMs = Date.now() - 24 * 3_600_000;
  const today = changes
    .filter(({ hour }) => Date.parse(hour) >= dayAgoMs)
    .reduce((sum, { changes }) => sum + changes, 0);
  return (
    <dl class="card totals">
      <div>
        <dt>Plants</dt>
        <dd>{plants.toLocaleString()}</dd>
      </div>
      <div>
        <dt>Tags</dt>
        <dd>
          {tags.length}
          {tags.length >= 100 && '+'}
        </dd>
      </div>
      <div>
        <dt>Changes, 24 h</dt>
        <dd>{today.toLocaleString()}</dd>
      </div>
    </dl>
  );
}

function ByTag({ summary: { plants, tags, untagged } }: { summary: Summary }) {
  const shown = tags.slice(0, TAGS_SHOWN);
  const others = plants - untagged - shown.reduce((sum, tag) => sum + tag.plants, 0);
  const most = Math.max(1, others, untagged, ...shown.map((tag) => tag.plants));
  return (
    <section class="card" aria-labelledby="tags-title">
      <h2 id="tags-title">Plants by tag</h2>
      <table class="bars">
        <tbody>
          {shown.map(({ tag, plants }) => (
            <Bar
              key={tag}
              label={
                <a href={`#/plants?${new URLSearchParams({ tag })}`}>
                  <Tag of={tag} />
                </a>
              }
              count={plants}
              most={most}
            />
          ))}
          {others > 0 && <Bar label="Other tags" count={others} most={most} />}
          {untagged > 0 && <Bar label="No tag" count={untagged} most={most} />}
        </tbody>
      </table>
      {plants === 0 && <p class="empty">No plants yet</p>}
    </section>
  );
}

function Bar({ label, count, most }: { label: preact.ComponentChildren; count: number; most: number }) {
  return (
    <tr>
      <th scope="row">{label}</th>
      <td>
        <svg aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 10">
          <rect width={(100 * count) / most} height="10" rx="1" />
        </svg>
      </td>
      <td class="number">{count.toLocaleString()}</td>
    </tr>
  );
}

function newest(known: Change[], more: Change[]): Change[] {
  const bySeq = new Map([...known, ...more].map((change) => [change.seq, change]));
  return [...bySeq.values()].sort((a, b) => b.seq - a.seq).slice(0, LAST);
}

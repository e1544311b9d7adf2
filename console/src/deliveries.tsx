// The deliveries of a webhook, newest first, with a button to retry each.

import type { Delivery, Webhook } from 'plant-store/client';
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { Scrolling } from './scrolling.tsx';
import { Problem, Time } from './show.tsx';
import { useLoaded } from './use-loaded.ts';
import { endsSession, useWorkspace } from './workspace.ts';

const STATUSES = ['waiting', 'delivered', 'dead'] as const;
const LIMIT = 100;
const REFRESH_EVERY_MS = 2000;

export function Deliveries({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const workspace = useWorkspace();
  const { client, can } = workspace;
  const [status, setStatus] = useState<Delivery['status']>();
  const [failure, setFailure] = useState('');
  const loaded = useLoaded(() => client.webhooks.deliveries(webhook.id, { limit: LIMIT, status }), [status]);

  useEffect(() => {
    // Starts after each response, so that slow requests do not overlap.
    const timer = setTimeout(loaded.reload, REFRESH_EVERY_MS);
    return () => clearTimeout(timer);
  }, [loaded.answers]);

  async function retry({ seq }: Delivery): Promise<void> {
    try {
      await client.webhooks.retry(webhook.id, seq);
      setFailure('');
    } catch (error) {
      if (!endsSession(error, workspace)) setFailure((error as Error).message);
    }
    loaded.reload();
  }

  return (
    <Dialog title={`Deliveries to ${webhook.url}`} isWide onClose={onClose}>
      <label class="inline">
        Status
        <select
          value={status ?? 'all'}
          onChange={(event) => setStatus(STATUSES.find((known) => known === event.currentTarget.value))}
        >
          <option value="all">All</option>
          {STATUSES.map((known) => (
            <option key={known} value={known}>
              {known}
            </option>
          ))}
        </select>
      </label>
      <Problem text={failure || loaded.problem} />
      <Scrolling class="lines" label="Deliveries">
        <table>
          <thead>
            <tr>
              <th scope="col">Change</th>
              <th scope="col">Plant</th>
              <th scope="col">Status</th>
              <th scope="col">Attempts</th>
              <th scope="col">Last attempt</th>
              <th scope="col">Response</th>
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {loaded.value?.map((delivery) => (
              <tr key={delivery.seq}>
                <td class="id">{delivery.seq}</td>
                <td class="id">{String(delivery.plant)}</td>
                <td>
                  <span class={`state ${delivery.status}`}>{delivery.status}</span>
                </td>
                <td>{delivery.attempts}</td>
                <td>
                  <Time at={delivery.time} />
                </td>
                <td>{delivery.error ?? delivery.code}</td>
                <td class="actions">
                  {can('plants:read') && (
                    <button
                      type="button"
                      aria-label={`Retry change ${delivery.seq}`}
                      onClick={() => void retry(delivery)}
                    >
                      Retry
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {loaded.value?.length === 0 && (
          <p class="empty">{status ? 'No deliveries with this status' : 'No deliveries yet'}</p>
        )}
      </Scrolling>
      <footer>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </footer>
    </Dialog>
  );
}

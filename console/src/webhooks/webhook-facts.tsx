// The facts of a webhook: how far it has come, where it sends, and in which form.

import type { Webhook } from 'plant-store/client';
import { number } from '../shared/numbers.ts';
import { Time } from '../shared/time.tsx';
import { DeliveryStrip } from './delivery-strip.tsx';
import { MOST, type Progress } from './use-progress.ts';
import { countUpTo, formatText } from './webhook-text.ts';

interface Props {
  webhook: Webhook;
  progress: Progress | undefined;
  lastChange: number | undefined;
}

export function WebhookFacts(props: Props) {
  const { webhook, progress, lastChange } = props;
  const { url, format, created, rotating, position } = webhook;
  return (
    <div class={progress && progress.recent.length > 0 ? 'hook-facts' : 'hook-facts no-strip'}>
      {progress && progress.recent.length > 0 && <DeliveryStrip of={progress.recent} />}
      <dl>
        <div>
          <dt>Progress</dt>
          <dd>
            <Position position={position} progress={progress} lastChange={lastChange} />
          </dd>
        </div>
        {progress && progress.waiting.length > 0 && (
          <div>
            <dt>Waiting</dt>
            <dd>{countUpTo(progress.waiting.length, MOST)}</dd>
          </div>
        )}
        <div>
          <dt>Address</dt>
          <dd class="hook-url">{url}</dd>
        </div>
        <div>
          <dt>Format</dt>
          <dd>{formatText(format)}</dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Time at={created} isLong />
          </dd>
        </div>
        {rotating && (
          <div>
            <dt>Old secret also signs until</dt>
            <dd>
              <Time at={rotating} isLong />
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
}

/** The position of a webhook that delivered nothing says only where it starts. */
function Position({ position, progress, lastChange }: Pick<Props, 'progress' | 'lastChange'> & { position: number }) {
  if (!progress) return null;
  const behind = lastChange === undefined ? 0 : Math.max(0, lastChange - position);
  const rest = behind > 0 && <span class="sub"> ({number(behind)} behind)</span>;
  if (!progress.lastDelivered) {
    const start = position === 0 ? '. It starts with the first change' : `. It starts after change ${number(position)}`;
    return (
      <>
        No change delivered yet{progress.recent.length === 0 && start}
        {rest}
      </>
    );
  }
  return (
    <>
      Change {number(position)}
      {lastChange !== undefined && behind === 0 ? <span class="sub"> (the newest)</span> : rest}
    </>
  );
}

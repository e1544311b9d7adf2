// One webhook: what it does, how it fares, and its deliveries.

import type { Webhook } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { useRefreshOnChange } from '../session/queries.ts';
import { useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { Scrolling } from '../shared/scrolling.tsx';
import { linkTo } from '../view.ts';
import { Deliveries } from './deliveries.tsx';
import { StateBadge } from './state-badge.tsx';
import { type Test, TestReport } from './test-report.tsx';
import { REFRESH_MS, useProgress } from './use-progress.ts';
import { type WebhookAction, WebhookActions } from './webhook-actions.tsx';
import { WebhookAlarm } from './webhook-alarm.tsx';
import { WebhookFacts } from './webhook-facts.tsx';
import { stateOf } from './webhook-state.ts';
import { eventsText, splitAddress, titleOf } from './webhook-text.ts';

export function WebhookDetail(props: {
  webhook: Webhook;
  lastChange: number | undefined;
  onAction(action: WebhookAction): void;
}) {
  const { webhook, lastChange, onAction } = props;
  const { can } = useWorkspace();
  const progress = useProgress(webhook, REFRESH_MS);
  const [test, setTest] = useState<Test>();
  useRefreshOnChange(['deliveries', webhook.id], REFRESH_MS);
  const { host, path } = splitAddress(webhook.url);
  return (
    <Scrolling class="hook-detail" label={titleOf(webhook)}>
      <a class="btn quiet s back-s" href={linkTo('webhooks')}>
        <Icon name="chevL" />
        Webhooks
      </a>
      <div class="hook-top">
        <div>
          <h2>
            {webhook.name ? <bdi>{webhook.name}</bdi> : host}
            {!webhook.name && <span class="sub">{path}</span>}
          </h2>
          <p class="sub hook-sum">
            <StateBadge of={stateOf(webhook)} />
            <span>{eventsText(webhook.events)}</span>
          </p>
        </div>
        <WebhookActions webhook={webhook} onAction={onAction} onTest={setTest} />
      </div>
      {!can('plants:read') && (
        <p class="help">
          To add, edit, pause, replay or retry, sign in with a token that can also read plants: messages contain plants.
        </p>
      )}
      {test && <TestReport test={test} onClose={() => setTest(undefined)} />}
      <WebhookAlarm webhook={webhook} progress={progress} lastChange={lastChange} />
      <WebhookFacts webhook={webhook} progress={progress} lastChange={lastChange} />
      <Deliveries webhook={webhook} progress={progress} />
    </Scrolling>
  );
}

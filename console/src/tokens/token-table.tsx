// The table of tokens. On a narrow page each token is a card.

import type { DescribedToken } from 'plant-store/client';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { Menu } from '../shared/popover.tsx';
import { exactTime, relativeTime, shortDate, Time, useNow } from '../shared/time.tsx';
import { ScopeBadges } from './scopes.tsx';
import { isManageable, rateText } from './token-text.ts';

export type TokenAction = 'edit' | 'rotate' | 'revoke';

const SOON_MS = 7 * 86_400_000;

interface Props {
  tokens: DescribedToken[];
  isEnded: boolean;
  onAction(action: TokenAction, token: DescribedToken): void;
}

export function TokenTable({ tokens, isEnded, onAction }: Props) {
  const columns = ['Name', 'Can', 'Rate limit', 'Last used', isEnded ? 'Ended' : 'Expires'];
  return (
    <table class="table toks" aria-label={isEnded ? 'Ended tokens' : 'Active tokens'}>
      <thead class="thead">
        <tr class="tr">
          {columns.map((title) => (
            <th key={title} class="th" scope="col">
              {title}
            </th>
          ))}
          <th class="th" scope="col">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody class="tbody">
        {tokens.map((token) => (
          <Row key={token.id} token={token} onAction={onAction} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ token, onAction }: { token: DescribedToken; onAction: Props['onAction'] }) {
  const { self } = useWorkspace();
  const { name, scopes, rate, created, lastUsed, rotating, status } = token;
  const isEnded = status !== 'active';
  return (
    <tr class={isEnded ? 'tr tok ended' : 'tr tok'}>
      <td class="td k-name">
        <b>
          <bdi>{name}</bdi>
        </b>
        {token.id === self.id && (
          <span class="badge ok" title="You are signed in with this token">
            This one
          </span>
        )}
        {rotating && <Rotating until={rotating} />}
        <span class="k-made">
          Created <Time at={created} />
        </span>
      </td>
      <td class="td k-scopes" data-l="Can">
        <ScopeBadges of={scopes} />
      </td>
      <td class="td k-rate" data-l="Rate limit">
        <span class={rate ? undefined : 'sub'}>{rateText(rate)}</span>
      </td>
      <td class="td k-used" data-l="Last used">
        {lastUsed ? <Time at={lastUsed} /> : <span class="sub">Never</span>}
      </td>
      <td class="td k-exp" data-l={isEnded ? 'Ended' : 'Expires'}>
        {isEnded ? <Ending token={token} /> : <Expires at={token.expires} />}
      </td>
      <td class="td k-acts">{!isEnded && <Actions token={token} onAction={onAction} />}</td>
    </tr>
  );
}

function Rotating({ until }: { until: string }) {
  const nowMs = useNow();
  return (
    <span class="badge info k-rotating" title={`The old secret works until ${exactTime(until)}`}>
      <Icon name="retry" />
      Old secret ends {relativeTime(new Date(until), nowMs)}
    </span>
  );
}

function Expires({ at }: { at: string | undefined }) {
  const nowMs = useNow();
  if (at === undefined) return <span class="sub">Never</span>;
  const time = new Date(at);
  if (time.getTime() - nowMs >= SOON_MS) {
    return (
      <time dateTime={at} title={exactTime(at)}>
        {shortDate(time, nowMs)}
      </time>
    );
  }
  return (
    <span class="badge warn" title={exactTime(at)}>
      <Icon name="clock" />
      {relativeTime(time, nowMs)}
    </span>
  );
}

/** The API has no time of a revocation. */
function Ending({ token: { status, expires } }: { token: DescribedToken }) {
  if (status === 'revoked' || !expires) {
    return (
      <span class="badge">
        <Icon name="stop" />
        Revoked
      </span>
    );
  }
  return (
    <span class="badge" title={exactTime(expires)}>
      <Icon name="clock" />
      Expired {shortDate(new Date(expires))}
    </span>
  );
}

function Actions({ token, onAction }: { token: DescribedToken; onAction: Props['onAction'] }) {
  const { can } = useWorkspace();
  const isOffline = useIsOffline();
  const actions: { action: TokenAction; icon: string; text: string; isDanger?: boolean }[] = [
    ...(isManageable(token, can)
      ? ([
          { action: 'edit', icon: 'pencil', text: 'Edit' },
          { action: 'rotate', icon: 'retry', text: 'Rotate' },
        ] as const)
      : []),
    { action: 'revoke', icon: 'stop', text: 'Revoke', isDanger: true },
  ];
  return (
    <>
      <span class="k-wide">
        {actions.map(({ action, text, isDanger }) => (
          <button
            key={action}
            type="button"
            class={isDanger ? 'btn s quiet danger' : 'btn s quiet'}
            aria-label={`${text} ${token.name}`}
            disabled={isOffline}
            onClick={() => onAction(action, token)}
          >
            {text}
          </button>
        ))}
      </span>
      <span class="k-more">
        {!isOffline && (
          <Menu
            label={`Actions for ${token.name}`}
            items={actions.map(({ action, ...item }) => ({ ...item, onClick: () => onAction(action, token) }))}
          />
        )}
      </span>
    </>
  );
}

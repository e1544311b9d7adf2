// Scopes in plain words: as badges, and as choices in a form.

import type { Scope } from 'plant-store/client';
import { useWorkspace } from '../session/workspace.ts';
import { ChoiceCard, Group } from '../shared/choices.tsx';
import { Icon } from '../shared/icon.tsx';

const SCOPES: { scope: Scope; title: string; icon: string; means: string; more: string }[] = [
  {
    scope: 'plants:read',
    title: 'Read',
    icon: 'eye',
    means: 'List, search and export plants; follow the change log.',
    more: 'For displays, reports and copies.',
  },
  {
    scope: 'plants:write',
    title: 'Write',
    icon: 'pencil',
    means: 'Add, change, delete and import plants.',
    more: 'Every change names this token.',
  },
  {
    scope: 'admin',
    title: 'Admin',
    icon: 'shield',
    means: 'Manage tokens and webhooks; read metrics.',
    more: 'Can create further tokens: give it to few.',
  },
];

export function ScopeBadges({ of }: { of: Scope[] }) {
  return (
    <>
      {SCOPES.filter(({ scope }) => of.includes(scope)).map(({ scope, title, icon }) => (
        <span key={scope} class={scope === 'admin' ? 'badge info' : 'badge'}>
          <Icon name={icon} />
          {title}
        </span>
      ))}
    </>
  );
}

/** Offers only scopes that the user has, because the server grants no others. */
export function ScopeChoice(props: { value: Scope[]; error?: string | undefined; onChange(value: Scope[]): void }) {
  const { value, error, onChange } = props;
  const { can } = useWorkspace();
  const offered = SCOPES.filter(({ scope }) => can(scope));
  const help = offered.length < SCOPES.length ? 'Your own token can grant no more than this.' : undefined;
  const others = (scope: Scope) => value.filter((chosen) => chosen !== scope);
  return (
    <Group title="What it can do" help={help} error={error}>
      <div class="picks">
        {offered.map(({ scope, title, means, more }) => (
          <ChoiceCard
            key={scope}
            type="checkbox"
            title={title}
            code={scope}
            isChosen={value.includes(scope)}
            hasError={error !== undefined}
            onChange={(isChosen) => onChange(isChosen ? [...value, scope] : others(scope))}
          >
            <span class="pick-d">{means}</span>
            <span class="pick-m">{more}</span>
          </ChoiceCard>
        ))}
      </div>
    </Group>
  );
}

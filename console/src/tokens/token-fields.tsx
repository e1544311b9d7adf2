// The fields of a token, for creating and for editing one.

import type { DescribedToken, Scope } from 'plant-store/client';
import { Field } from '../shared/field.tsx';
import type { Faults } from '../shared/form-dialog.tsx';
import { checkExpiry, type Expiry, NEVER } from './expiry.ts';
import { ExpiryField } from './expiry-field.tsx';
import { checkRate, RateField } from './rate-field.tsx';
import { ScopeChoice } from './scopes.tsx';

export interface TokenDraft {
  name: string;
  scopes: Scope[];
  expiry: Expiry;
  rate: string | undefined;
}

export const TOKEN_FIELDS = ['name', 'scopes', 'expires', 'rate'];

const MAX_NAME_CHARS = 100;

/** Returns the draft of a new token, with the fewest rights that are useful. */
export function newDraft(can: (scope: Scope) => boolean): TokenDraft {
  return { name: '', scopes: can('plants:read') ? ['plants:read'] : [], expiry: NEVER, rate: undefined };
}

export function draftOf({ name, scopes, rate, expires }: DescribedToken): TokenDraft {
  return { name, scopes, rate, expiry: expires === undefined ? NEVER : { ...NEVER, kind: 'keep' } };
}

export function checkDraft({ name, scopes, expiry, rate }: TokenDraft): Faults {
  return {
    name: name.trim() === '' ? 'Enter a name, such as “label printer”.' : undefined,
    scopes: scopes.length === 0 ? 'Choose at least one.' : undefined,
    expires: checkExpiry(expiry, Date.now()),
    rate: checkRate(rate),
  };
}

export function TokenFields(props: {
  draft: TokenDraft;
  faults: Faults;
  /** The expiry of the existing token, if it has one. */
  kept?: string | undefined;
  onChange(draft: TokenDraft): void;
}) {
  const { draft, faults, kept, onChange } = props;
  return (
    <>
      <Field label="Name" help="Who or what uses it. The change log shows this name." error={faults.name}>
        {(control) => (
          <input
            {...control}
            value={draft.name}
            maxLength={MAX_NAME_CHARS}
            autocomplete="off"
            onInput={(event) => onChange({ ...draft, name: event.currentTarget.value })}
          />
        )}
      </Field>
      <ScopeChoice value={draft.scopes} error={faults.scopes} onChange={(scopes) => onChange({ ...draft, scopes })} />
      <ExpiryField
        value={draft.expiry}
        kept={kept}
        error={faults.expires}
        onChange={(expiry) => onChange({ ...draft, expiry })}
      />
      <RateField value={draft.rate} error={faults.rate} onChange={(rate) => onChange({ ...draft, rate })} />
    </>
  );
}

// The dialog that sends a range of past changes again.

import { useQueryClient } from '@tanstack/preact-query';
import type { Webhook } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { useTell } from '../frame/notices.tsx';
import { useWorkspace } from '../session/workspace.ts';
import { Field } from '../shared/field.tsx';
import { type Faults, FormDialog } from '../shared/form-dialog.tsx';
import { Icon } from '../shared/icon.tsx';
import { count, number } from '../shared/numbers.ts';
import { titleOf } from './webhook-text.ts';

interface Props {
  webhook: Webhook;
  lastChange: number | undefined;
  onClose(): void;
}

export function ReplayDialog({ webhook, lastChange, onClose }: Props) {
  const { client } = useWorkspace();
  const queries = useQueryClient();
  const tell = useTell();
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const most = countOf(from, to, lastChange);

  async function replay(): Promise<void> {
    await client.webhooks.replay(webhook.id, { from: Number(from), ...(to !== '' && { to: Number(to) }) });
    tell(`Changes from ${number(Number(from))} are sent to ${titleOf(webhook)} again`);
    void queries.invalidateQueries({ queryKey: ['webhooks'] });
    void queries.invalidateQueries({ queryKey: ['deliveries', webhook.id] });
    onClose();
  }

  return (
    <FormDialog
      title="Replay changes"
      action={most === undefined ? 'Replay changes' : `Replay up to ${count(most, 'change')}`}
      fields={['from', 'to']}
      check={() => checkRange(from, to, lastChange)}
      onSubmit={replay}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <p>
            Sends past changes to <bdi>{titleOf(webhook)}</bdi> again, in order for each plant. New changes wait behind
            them.
          </p>
          <ChangeField label="First change" value={from} placeholder="1" error={faults.from} onChange={setFrom} />
          <ChangeField
            label="Last change"
            isOptional
            help="The newest one, if you leave it empty."
            value={to}
            placeholder={String(lastChange ?? '')}
            error={faults.to}
            onChange={setTo}
          />
          <div class="callout">
            <Icon name="info" />
            <span>
              {most !== undefined && (
                <>
                  <b>At most {count(most, 'change')}.</b> Only those that this webhook sends.{' '}
                </>
              )}
              The receiver must cope with repeats: a repeat has the same <code>webhook-id</code> as the first message.
            </span>
          </div>
        </>
      )}
    </FormDialog>
  );
}

function ChangeField(props: {
  label: string;
  isOptional?: boolean;
  help?: string;
  value: string;
  placeholder: string;
  error: string | undefined;
  onChange(value: string): void;
}) {
  const {
    label,
    isOptional = false,
    help = 'Its number, as in the list of deliveries.',
    value,
    placeholder,
    error,
  } = props;
  return (
    <Field label={label} isOptional={isOptional} help={help} error={error}>
      {(control) => (
        <input
          {...control}
          class="input mono"
          inputMode="numeric"
          autocomplete="off"
          placeholder={placeholder}
          value={value}
          onInput={(event) => props.onChange(event.currentTarget.value.trim())}
        />
      )}
    </Field>
  );
}

function isNumber(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));
}

function checkRange(from: string, to: string, lastChange: number | undefined): Faults {
  const isAfterLast = lastChange !== undefined && Number(from) > lastChange;
  return {
    from: !isNumber(from)
      ? 'Enter the number of a change, such as 1.'
      : isAfterLast
        ? `Enter a number up to ${number(lastChange)}, the newest change.`
        : undefined,
    to:
      to !== '' && (!isNumber(to) || Number(to) < Number(from))
        ? 'Enter a number that is not below the first change, or leave it empty.'
        : undefined,
  };
}

/** Returns the number of changes in the range. Undefined while the range is not valid. */
function countOf(from: string, to: string, lastChange: number | undefined): number | undefined {
  if (lastChange === undefined || Object.values(checkRange(from, to, lastChange)).some(Boolean)) return undefined;
  return Math.min(to === '' ? lastChange : Number(to), lastChange) - Number(from) + 1;
}

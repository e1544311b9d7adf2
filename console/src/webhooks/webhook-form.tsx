// The fields of a webhook, for adding and for editing one.

import type { ChangeType, Webhook } from 'plant-store/client';
import { useId } from 'preact/hooks';
import { ChoiceCard, Group } from '../shared/choices.tsx';
import { Field } from '../shared/field.tsx';
import type { Faults } from '../shared/form-dialog.tsx';
import { EVENTS, FORMATS } from './webhook-text.ts';

export interface WebhookDraft {
  url: string;
  name: string;
  events: ChangeType[];
  format: Webhook['format'];
}

export const WEBHOOK_FIELDS = ['url', 'name', 'events', 'format'];

export const NEW_WEBHOOK: WebhookDraft = {
  url: '',
  name: '',
  events: EVENTS.map(({ type }) => type),
  format: 'event',
};

export function checkWebhook({ url, events }: WebhookDraft): Faults {
  return {
    url: URL.canParse(url.trim()) ? undefined : 'Enter a full address, such as https://shop.example.com/plants.',
    events: events.length === 0 ? 'Choose at least one.' : undefined,
  };
}

export function WebhookFields(props: { draft: WebhookDraft; faults: Faults; onChange(draft: WebhookDraft): void }) {
  const { draft, faults, onChange } = props;
  const { url, name, events } = draft;
  return (
    <>
      <Field label="Address" help="The server sends each change there." error={faults.url}>
        {(control) => (
          <input
            {...control}
            type="url"
            value={url}
            autocomplete="off"
            spellcheck={false}
            placeholder="https://shop.example.com/plants"
            onInput={(event) => onChange({ ...draft, url: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field label="Name" isOptional help="Such as the program that receives the changes." error={faults.name}>
        {(control) => (
          <input
            {...control}
            value={name}
            maxLength={100}
            autocomplete="off"
            onInput={(event) => onChange({ ...draft, name: event.currentTarget.value })}
          />
        )}
      </Field>
      <Group title="Send when a plant is" error={faults.events}>
        <div class="picks">
          {EVENTS.map(({ type, title }) => (
            <ChoiceCard
              key={type}
              type="checkbox"
              title={title}
              code={type}
              isChosen={events.includes(type)}
              hasError={faults.events !== undefined}
              onChange={(isChosen) =>
                onChange({ ...draft, events: isChosen ? [...events, type] : events.filter((other) => other !== type) })
              }
            />
          ))}
        </div>
      </Group>
      <FormatChoice value={draft.format} error={faults.format} onChange={(format) => onChange({ ...draft, format })} />
    </>
  );
}

function FormatChoice(props: {
  value: Webhook['format'];
  error: string | undefined;
  onChange(format: Webhook['format']): void;
}) {
  const name = useId();
  return (
    <Group title="Each message contains" error={props.error}>
      <div class="picks">
        {FORMATS.map(({ format, title, means }) => (
          <ChoiceCard
            key={format}
            type="radio"
            name={name}
            title={title}
            code={format}
            isChosen={format === props.value}
            onChange={() => props.onChange(format)}
          >
            <span class="pick-d">{means}</span>
          </ChoiceCard>
        ))}
      </div>
    </Group>
  );
}

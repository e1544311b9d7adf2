// Choices in forms: a few short ones side by side, and cards that explain each choice.

import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Note } from './field.tsx';

/** A group of controls with a title. Its error stands in the place of the help. */
export function Group(props: {
  title: string;
  help?: ComponentChildren;
  error?: string | undefined;
  children: ComponentChildren;
}) {
  const { title, help, error, children } = props;
  const noteId = useId();
  return (
    <fieldset class={error ? 'field bad' : 'field'} aria-describedby={error || help ? noteId : undefined}>
      <legend class="legend">{title}</legend>
      {children}
      <Note id={noteId} help={help} error={error} />
    </fieldset>
  );
}

/** Short choices side by side, of which one is chosen. */
export function RadioSegments<Value extends string>(props: {
  value: Value;
  options: { value: Value; text: string }[];
  onChange(value: Value): void;
}) {
  const name = useId();
  return (
    <div class="seg wide">
      {props.options.map(({ value, text }) => (
        <label key={value}>
          <input type="radio" name={name} checked={value === props.value} onChange={() => props.onChange(value)} />
          {text}
        </label>
      ))}
    </div>
  );
}

/** A choice with its explanation. */
export function ChoiceCard(props: {
  type: 'checkbox' | 'radio';
  title: string;
  /** Name of the choice in the API. */
  code: string;
  name?: string;
  isChosen: boolean;
  hasError?: boolean;
  onChange(isChosen: boolean): void;
  children?: ComponentChildren;
}) {
  const { type, title, code, name, isChosen, hasError = false, onChange, children } = props;
  return (
    <label class={children ? 'pick-card' : 'pick-card slim'}>
      <input
        type={type}
        name={name}
        checked={isChosen}
        aria-invalid={hasError || undefined}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span class="pick-t">
        <b>{title}</b> <code>{code}</code>
      </span>
      {children}
    </label>
  );
}

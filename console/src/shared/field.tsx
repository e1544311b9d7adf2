// Form fields: the label above, help below, and an error in the place of the help.

import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useId, useLayoutEffect } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface Control {
  id: string;
  class: string;
  'aria-invalid'?: true;
  'aria-describedby'?: string;
}

/** `children` renders the control with the properties that connect it to its label and its error. */
export function Field(props: {
  label: string;
  isOptional?: boolean;
  help?: ComponentChildren;
  error?: ComponentChildren;
  children(control: Control): JSX.Element;
}) {
  const { label, isOptional = false, help, error, children } = props;
  const id = useId();
  const noteId = `${id}-note`;
  return (
    <div class={error ? 'field bad' : 'field'}>
      <label for={id}>
        {label} {isOptional && <span class="opt-note">optional</span>}
      </label>
      {children({
        id,
        class: 'input',
        ...(error && { 'aria-invalid': true as const }),
        ...((error || help) && { 'aria-describedby': noteId }),
      })}
      <Note id={noteId} help={help} error={error} />
    </div>
  );
}

/** The help of a field, or its error in the same place. */
export function Note({ id, help, error }: { id: string; help: ComponentChildren; error: ComponentChildren }) {
  if (error) {
    return (
      <p class="err" id={id} role="alert">
        <Icon name="bad" />
        <span>{error}</span>
      </p>
    );
  }
  return help ? (
    <p class="help" id={id}>
      {help}
    </p>
  ) : null;
}

/** An error that belongs to no field. The element exists without text too, because screen readers announce changes. */
export function Problem({ text }: { text: string | undefined }) {
  return (
    <div role="alert">
      {text && (
        <p class="err">
          <Icon name="bad" />
          <span>{text}</span>
        </p>
      )}
    </div>
  );
}

/** Moves the focus to the first field with an error after each failed submit. */
export function useFocusOnError(form: RefObject<HTMLElement | null>, attempts: number): void {
  useLayoutEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [attempts]);
}

/** A list to choose from. Browsers draw the native list best on phones. */
export function Select<Value extends string>(props: {
  label: string;
  icon?: string;
  value: Value;
  options: { value: Value; text: string }[];
  onChange(value: Value): void;
}) {
  const { label, icon, value, options, onChange } = props;
  return (
    <label class="pick">
      <span class="unseen">{label}</span>
      {icon && <Icon name={icon} />}
      <select class="select" value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
      <Icon name="chevD" class="pick-c" />
    </label>
  );
}

/** A few choices side by side. */
export function Segments<Value extends string>(props: {
  label: string;
  value: Value;
  options: { value: Value; content: ComponentChildren; label?: string }[];
  class?: string;
  onChange(value: Value): void;
}) {
  return (
    <fieldset class={props.class ? `seg ${props.class}` : 'seg'} aria-label={props.label}>
      {props.options.map(({ value, content, label }) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === props.value}
          aria-label={label}
          title={label}
          onClick={() => props.onChange(value)}
        >
          {content}
        </button>
      ))}
    </fieldset>
  );
}

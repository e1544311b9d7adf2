// The field of a name. A name can have several lines, which an <input> would join.

import type { Ref } from 'preact';

const MAX_ROWS = 6;
const ROW_CHARS = 34;

interface Props {
  id?: string;
  field?: Ref<HTMLTextAreaElement>;
  value: string;
  onChange(name: string): void;
  onKeyDown(event: KeyboardEvent): void;
}

export function NameField({ id, field = null, value, onChange, onKeyDown }: Props) {
  const lines = value.split(/\r?\n/);
  return (
    <textarea
      id={id}
      ref={field}
      class="input"
      aria-label={id === undefined ? 'Name' : undefined}
      autocomplete="off"
      rows={Math.min(MAX_ROWS, lines.length + Math.floor(value.length / ROW_CHARS))}
      value={lines.join('\n')}
      onInput={(event) => onChange(withBreaksOf(value, event.currentTarget.value))}
      onKeyDown={onKeyDown}
    />
  );
}

/** A browser turns every line break of the field into a line feed. Names with CRLF keep it. */
function withBreaksOf(before: string, text: string): string {
  const isCrlf = before.includes('\r\n') && !/(?<!\r)\n/.test(before);
  return isCrlf ? text.replaceAll('\n', '\r\n') : text;
}

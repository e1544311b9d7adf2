// How names, tags, times and what went wrong are shown.

const shortTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const longTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

const MAX_NAME_CHARS = 60;

/** A plant may have no name to speak of. */
export function nameOf({ id, name }: { id: bigint; name: string }): string {
  if (name.trim() === '') return `plant ${id}`;
  return name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS).replace(/[\ud800-\udbff]$/, '')}…` : name;
}

export function Time({ at }: { at: string | undefined }) {
  if (at === undefined) return <span class="faint">never</span>;
  const time = new Date(at);
  return (
    <time dateTime={at} title={longTime.format(time)}>
      {shortTime.format(time)}
    </time>
  );
}

export function Name({ of }: { of: string }) {
  if (of.trim() !== '') return <bdi>{of}</bdi>;
  return <span class="faint">{of === '' ? '(empty)' : '(blank)'}</span>;
}

export function Tag({ of, onClick }: { of: string | undefined; onClick?: (tag: string) => void }) {
  if (of === undefined) return null;
  const text = of.trim() === '' ? '(empty)' : of;
  if (!onClick) return <bdi class="tag">{text}</bdi>;
  return (
    <button type="button" class="tag" title={`Show only ${text}`} onClick={() => onClick(of)}>
      <bdi>{text}</bdi>
    </button>
  );
}

/** There also while there is nothing to say: a screen reader tells what appears in it. */
export function Problem({ text }: { text: string | undefined }) {
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

// Components and functions that show names, tags, times and errors.

const shortTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const longTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

const MAX_NAME_CHARS = 60;

/** Right-to-left letters and direction marks. */
const BIDIRECTIONAL = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/;

/** Returns a name for use in a sentence: the id if it is blank, shortened if long, isolated if right-to-left. */
export function nameOf({ id, name }: { id: bigint; name: string }): string {
  if (name.trim() === '') return `plant ${id}`;
  const short =
    name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS).replace(/[\ud800-\udbff]$/, '')}…` : name;
  return BIDIRECTIONAL.test(short) ? `\u2068${short}\u2069` : short;
}

export function Time({ at }: { at: string | undefined }) {
  if (at === undefined) return <span class="faint">Never</span>;
  const time = new Date(at);
  return (
    <time dateTime={at} title={longTime.format(time)}>
      {shortTime.format(time)}
    </time>
  );
}

export function Name({ of }: { of: string }) {
  if (of.trim() !== '') return <bdi>{of}</bdi>;
  return <span class="faint">{emptiness(of)}</span>;
}

export function emptiness(text: string): string {
  return text === '' ? '(empty)' : '(blank)';
}

export function Tag({ of, onClick }: { of: string | undefined; onClick?: (tag: string) => void }) {
  if (of === undefined) return null;
  const text = of.trim() === '' ? emptiness(of) : of;
  if (!onClick) return <bdi class="tag">{text}</bdi>;
  return (
    <button type="button" class="tag" title={`Filter by ${text}`} onClick={() => onClick(of)}>
      <bdi>{text}</bdi>
    </button>
  );
}

/** An error message. The element exists without text too, because screen readers announce text that appears in it. */
export function Problem({ text }: { text: string | undefined }) {
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

// How names, tags, times and what went wrong are shown.

const shortTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const longTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

const MAX_NAME_CHARS = 60;

/** Letters that are written from the right, and what turns the direction. */
const TURNING = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/;

/** Within a sentence: a plant may have no name to speak of, a very long one, or one that would turn the sentence round. */
export function nameOf({ id, name }: { id: bigint; name: string }): string {
  if (name.trim() === '') return `plant ${id}`;
  const short =
    name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS).replace(/[\ud800-\udbff]$/, '')}…` : name;
  return TURNING.test(short) ? `\u2068${short}\u2069` : short;
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

/** There also while there is nothing to say: a screen reader tells what appears in it. */
export function Problem({ text }: { text: string | undefined }) {
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

// Components and functions that show the texts of users: names and tags. All of them stand in <bdi>, because a name in
// Arabic would otherwise reorder its neighbours.

const MAX_NAME_CHARS = 60;
const MARKS = 9;

/** Right-to-left letters and direction marks. */
const BIDIRECTIONAL = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/;

/** Returns a name for use in a sentence: the id if it is blank, shortened if long, isolated if right-to-left. */
export function nameOf({ id, name }: { id: bigint; name: string }): string {
  if (name.trim() === '') return `plant ${id}`;
  const short = shorten(name, MAX_NAME_CHARS);
  return BIDIRECTIONAL.test(short) ? `\u2068${short}\u2069` : short;
}

/** Cuts a long text. Names can have 64,000 characters, which would slow down a list. */
export function shorten(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

export function Name({ of }: { of: string }) {
  return of.trim() === '' ? <span class="none">{emptiness(of)} name</span> : <bdi>{of}</bdi>;
}

/** Returns the text of a tag, or a word for a tag that cannot be seen. */
export function tagText(tag: string): string {
  return tag.trim() === '' ? `${emptiness(tag)} tag` : tag;
}

export function Tag({ of }: { of: string | undefined }) {
  if (of === undefined) return <span class="none">No tag</span>;
  return (
    <span class="tag" title={of.length > 12 ? of : undefined}>
      <TagDot of={of} />
      <bdi>{tagText(of)}</bdi>
    </span>
  );
}

/** The coloured dot of a tag. Equal tags have equal colours. */
export function TagDot({ of }: { of: string | undefined }) {
  return <i class={of === undefined ? 'dot hollow' : `dot m${markOf(of)}`} />;
}

/** The constants give the usual tags of a nursery different colours, and trees a green one. */
function markOf(tag: string): number {
  let hash = 2867;
  for (const char of tag) hash = (Math.imul(hash, 2005) + (char.codePointAt(0) ?? 0)) >>> 0;
  return (hash % MARKS) + 1;
}

function emptiness(text: string): string {
  return text === '' ? 'Empty' : 'Blank';
}

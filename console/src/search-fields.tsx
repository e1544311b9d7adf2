// The search field and the tag filter.

import { emptiness } from './show.tsx';

export function SearchFields(props: {
  typed: string;
  tag: string | undefined;
  tags: string[];
  onType(text: string): void;
  onTag(tag: string | undefined): void;
  /** Called when the tag filter gets the focus. */
  onOpenTags(): void;
}) {
  const { typed, tag, tags, onType, onTag, onOpenTags } = props;
  return (
    <search>
      <input
        type="search"
        aria-label="Search plants by name or id"
        placeholder="Search names and ids"
        value={typed}
        onInput={(event) => onType(event.currentTarget.value)}
      />
      <select
        aria-label="Filter by tag"
        value={tag === undefined ? 'any' : `is ${tag}`}
        onFocus={onOpenTags}
        onChange={(event) => onTag(toTag(event.currentTarget.value))}
      >
        <option value="any">Any tag</option>
        {[...new Set(tag === undefined ? tags : [tag, ...tags])].map((known) => (
          <option key={known} value={`is ${known}`}>
            {known.trim() === '' ? emptiness(known) : known}
          </option>
        ))}
      </select>
    </search>
  );
}

/** Returns undefined for any tag. An empty tag is a valid filter. */
function toTag(option: string): string | undefined {
  return option === 'any' ? undefined : option.slice('is '.length);
}

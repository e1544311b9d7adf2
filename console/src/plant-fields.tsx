// The form fields for the name and the tag of a plant. They accept several lines, because a one-line field would
// silently remove line feeds.

import { useId, useLayoutEffect, useRef } from 'preact/hooks';

export interface Texts {
  name: string;
  /** Empty if the plant has no tag. */
  tag: string;
}

export function PlantFields(props: {
  texts: Texts;
  tags: string[];
  takesFocus?: boolean;
  onChange(texts: Texts): void;
}) {
  const { texts, tags, takesFocus = false, onChange } = props;
  const name = useRef<HTMLTextAreaElement>(null);

  useLayoutEffect(() => {
    if (takesFocus) name.current?.focus();
  }, []);

  const id = useId();
  const listId = `${id}-tags`;
  const changeTag = (event: { currentTarget: { value: string } }) =>
    onChange({ ...texts, tag: event.currentTarget.value });
  return (
    <>
      <label>
        Name
        <textarea
          ref={name}
          name="name"
          rows={texts.name.length > 80 || texts.name.includes('\n') ? 5 : 1}
          value={texts.name}
          onKeyDown={submitOnEnter}
          onInput={(event) => onChange({ ...texts, name: event.currentTarget.value })}
        />
      </label>
      <label for={id}>
        Tag <span class="faint">(optional)</span>
      </label>
      {texts.tag.includes('\n') ? (
        <textarea id={id} name="tag" rows={3} value={texts.tag} onInput={changeTag} />
      ) : (
        <input id={id} name="tag" list={listId} value={texts.tag} autocomplete="off" onInput={changeTag} />
      )}
      <datalist id={listId}>
        {tags.map((tag) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
    </>
  );
}

/** Submits the form on Enter, as a one-line field does. Shift+Enter starts a new line. */
function submitOnEnter(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
}

/** Returns a message with the unsaved texts, or an empty string if there are none. */
export function tellTexts(
  what: string,
  { name, tag }: { name?: string | undefined; tag?: string | null | undefined },
): string {
  const written = [name && `name “${name}”`, tag === null ? 'no tag' : tag && `tag “${tag}”`].filter(Boolean);
  return written.length > 0 ? `${what}: ${written.join(', ')}` : '';
}

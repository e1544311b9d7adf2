// A field for a tag that suggests the tags in use. Base UI handles the keys and the list.

import { Autocomplete } from '@base-ui/react/autocomplete';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useSummary } from '../session/queries.ts';
import { FLOATING_PLACE } from '../shared/floating-place.ts';
import { number } from '../shared/numbers.ts';
import { TagDot } from '../shared/plant-text.tsx';

interface Props {
  id?: string;
  value: string;
  placeholder?: string;
  class?: string;
  takesFocus?: boolean;
  describedBy?: string | undefined;
  onChange(tag: string): void;
  onKeyDown?(event: KeyboardEvent): void;
}

const MAX_SHOWN = 8;

export function TagField({ id, value, placeholder, takesFocus, describedBy, onChange, onKeyDown, ...rest }: Props) {
  const summary = useSummary();
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (!takesFocus) return;
    field.current?.focus();
    field.current?.select();
  }, []);
  const [isOpen, setOpen] = useState(false);
  const [first] = useState(value);
  const wanted = value === first ? '' : value.trim().toLowerCase(); // An unedited field suggests all tags.
  const tags = (summary?.tags ?? []).filter(({ tag }) => tag !== value && tag.toLowerCase().includes(wanted));
  const counts = new Map(tags.slice(0, MAX_SHOWN).map(({ tag, plants }) => [tag, plants]));
  const isShown = isOpen && counts.size > 0;
  useUnhidden(isShown);
  return (
    <Autocomplete.Root
      items={[...counts.keys()]}
      filter={null}
      value={value}
      onValueChange={onChange}
      open={isShown}
      onOpenChange={setOpen}
      openOnInputClick
    >
      <Autocomplete.Input
        {...(id !== undefined && { id })}
        className={rest.class ?? 'input'}
        placeholder={placeholder}
        aria-describedby={describedBy}
        aria-label={id === undefined ? 'Tag' : undefined}
        ref={field as never}
        autoComplete="off"
        onKeyDown={(event) => onKeyDown?.(event as unknown as KeyboardEvent)}
      />
      <Autocomplete.Portal container={FLOATING_PLACE}>
        <Autocomplete.Positioner
          className="floating combo-float"
          positionMethod="fixed"
          sideOffset={4}
          collisionPadding={8}
        >
          <Autocomplete.Popup className="combo-list is-placed">
            <Autocomplete.List>
              {(tag: string) => (
                <Autocomplete.Item key={tag} value={tag} className="opt">
                  <TagDot of={tag} />
                  <bdi class="opt-t">{tag}</bdi>
                  <span class="opt-n">{number(counts.get(tag) ?? 0)}</span>
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  );
}

/** Base UI hides everything beside an open list from screen readers, except live regions: this keeps the page. */
function useUnhidden(isShown: boolean): void {
  useLayoutEffect(() => {
    if (!isShown) return;
    const kept = document.querySelectorAll('#app, .dialog');
    for (const element of kept) element.setAttribute('aria-live', 'off');
    return () => {
      for (const element of kept) element.removeAttribute('aria-live');
    };
  }, [isShown]);
}

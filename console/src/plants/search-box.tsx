// The search field of the list, with a hint of what it finds.

import type { Ref } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon, Keys } from '../shared/icon.tsx';
import { toId } from './plant-query.ts';

/** Delay after the last key before the list is searched. */
const TYPING_MS = 120;

interface Props {
  q: string;
  field: Ref<HTMLInputElement>;
  onSearch(q: string): void;
  /** Called with an id on Enter. */
  onOpenId(id: bigint): void;
  /** Called on the arrow key that leaves the field. */
  onDown(): void;
}

export function SearchBox({ q, field, onSearch, onOpenId, onDown }: Props) {
  const [text, setText] = useState(q);
  const [hasFocus, setFocus] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    setText(q);
  }, [q]);
  useEffect(() => () => clearTimeout(timer.current), []);

  function change(value: string, delayMs: number): void {
    setText(value);
    clearTimeout(timer.current);
    const search = () => onSearch(value.startsWith('=') ? '' : value);
    if (value.startsWith('=')) return;
    if (delayMs === 0) search();
    else timer.current = setTimeout(search, delayMs);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const id = toId(text);
    if (event.key === 'Enter' && id !== undefined) {
      (event.currentTarget as HTMLElement).blur(); // so that the shortcuts of the opened plant work
      onOpenId(id);
    } else if (event.key === 'Enter') change(text, 0);
    else if (event.key === 'ArrowDown') onDown();
    else if (event.key === 'Escape' && text !== '') change('', 0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div class="search">
      <div class="search-box">
        <Icon name="search" />
        <input
          ref={field}
          type="search"
          placeholder="Search names and ids"
          aria-label="Search plants"
          aria-describedby={hasFocus && text === '' ? 'search-hint' : undefined}
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => change(event.currentTarget.value, TYPING_MS)}
          onKeyDown={onKeyDown}
          onFocus={() => setFocus(true)}
          onBlur={() => setFocus(false)}
        />
        {text === '' ? (
          <Keys of={['/']} />
        ) : (
          <button type="button" class="btn icon s quiet" aria-label="Clear search" onClick={() => change('', 0)}>
            <Icon name="x" />
          </button>
        )}
      </div>
      {hasFocus && text === '' && <Hint />}
    </div>
  );
}

function Hint() {
  return (
    <div class="hint-pop" id="search-hint">
      <p>
        <b>Beginnings of words, or a whole id.</b>
      </p>
      <dl>
        <dt>
          <code>ac sac</code>
        </dt>
        <dd>Acer saccharum, Acer saccharinum</dd>
        <dt>
          <code>ete</code>
        </dt>
        <dd>Été indien: accents and capitals do not matter</dd>
        <dt>
          <code>10008</code>
        </dt>
        <dd>
          opens the plant with this id on <Keys of={['↵']} />
        </dd>
      </dl>
    </div>
  );
}

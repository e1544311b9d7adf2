// The command palette: finds plants, commands and pages. Base UI moves through the list.

import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/preact-query';
import type { PlantRecord } from 'plant-store/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { toId } from '../plants/plant-query.ts';
import { useWorkspace } from '../session/workspace.ts';
import { Icon, Keys } from '../shared/icon.tsx';
import { number } from '../shared/numbers.ts';
import { nameOf, tagText } from '../shared/plant-text.tsx';
import { openView } from '../view.ts';
import { PAGES } from './pages.ts';
import { toggleTheme, useIsDark } from './settings.ts';

interface Item {
  key: string;
  icon: string;
  text: string;
  /** The search whose words are marked in the text. */
  found?: string;
  id?: bigint;
  sub?: string | undefined;
  keys?: string[] | undefined;
  run(): void;
}

interface Group {
  title: string;
  items: Item[];
}

/** Shown at the row that Enter opens. */
const ENTER = ['↵'];
const PLANTS = 5;
/** Delay after the last key before plants are searched. */
const TYPING_MS = 120;

export function Palette({ onShortcuts, onClose }: { onShortcuts(): void; onClose(): void }) {
  const [text, setText] = useState('');
  const groups = useGroups(text.trim(), onShortcuts);
  return (
    <Dialog.Root open onOpenChange={(isOpen) => isOpen || onClose()}>
      <Dialog.Portal>
        <Dialog.Viewport className="scrim top">
          <Dialog.Popup className="palette" aria-label="Search or jump">
            <Autocomplete.Root
              open
              inline
              items={groups}
              value={text}
              onValueChange={setText}
              filter={null}
              autoHighlight="always"
              itemToStringValue={() => text}
            >
              <div class="pal-input">
                <Icon name="search" />
                <Autocomplete.Input
                  ref={focusAtOnce as never}
                  className="bare-input"
                  aria-label="Search plants and commands"
                  placeholder="Search plants, commands and pages"
                />
                <Keys of={['Esc']} />
                <Dialog.Close className="btn s quiet coarse">Cancel</Dialog.Close>
              </div>
              <Autocomplete.List className="pal-list" aria-label="Results">
                {(group: Group) => (
                  <Autocomplete.Group key={group.title} items={group.items}>
                    <Autocomplete.GroupLabel className="pal-title">{group.title}</Autocomplete.GroupLabel>
                    <Autocomplete.Collection>
                      {(item: Item) => <Row key={item.key} item={item} onDone={onClose} />}
                    </Autocomplete.Collection>
                  </Autocomplete.Group>
                )}
              </Autocomplete.List>
            </Autocomplete.Root>
            <footer class="pal-foot">
              <span>
                <Keys of={['↑', '↓']} /> Move
              </span>
              <span>
                <Keys of={['↵']} /> Open
              </span>
              <span class="hide-s">A number opens the plant with that id</span>
            </footer>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Base UI moves the focus a little later, and the first keys would be lost. */
function focusAtOnce(field: HTMLInputElement | null): void {
  if (field && document.activeElement !== field) field.focus();
}

function Row({ item, onDone }: { item: Item; onDone(): void }) {
  const { icon, text, found, id, sub, keys, run } = item;
  return (
    <Autocomplete.Item
      value={item}
      onClick={() => {
        onDone();
        run();
      }}
    >
      <Icon name={icon} />
      <span class="pal-main">
        <bdi>{found === undefined ? text : marked(text, found)}</bdi>
      </span>
      {id !== undefined && <span class="pal-sub mono">{String(id)}</span>}
      {sub && <span class="pal-sub">{sub}</span>}
      <span class={keys ? 'pal-keys' : 'pal-keys enter'}>
        <Keys of={keys ?? ENTER} />
      </span>
    </Autocomplete.Item>
  );
}

function useGroups(text: string, onShortcuts: () => void): Group[] {
  const { can } = useWorkspace();
  const isDark = useIsDark();
  const found = usePlants(text);
  return useMemo(() => {
    const matches = ({ text: label }: Item) => label.toLowerCase().includes(text.toLowerCase());
    const pages = PAGES.filter(({ scopes }) => scopes.some(can)).map(
      ({ name, title, icon, letter }): Item => ({
        key: name,
        icon,
        text: title,
        keys: ['G', letter],
        run: () => openView(name),
      }),
    );
    const actions: Item[] = [
      ...(can('plants:write') && can('plants:read') // The page of plants requires both.
        ? [
            {
              key: 'add',
              icon: 'plus',
              text: text === '' ? 'Add plant' : `Add plant “${text}”`,
              keys: ['N'],
              run: () => openView('plants', { add: text }),
            },
          ]
        : []),
      ...(can('plants:write')
        ? [{ key: 'import', icon: 'upload', text: 'Import a file', run: () => openView('transfer') }]
        : []),
      ...(can('admin')
        ? [
            { key: 'token', icon: 'key', text: 'Create token', run: () => openView('tokens', { create: '1' }) },
            { key: 'hook', icon: 'hook', text: 'Create webhook', run: () => openView('webhooks', { create: '1' }) },
          ]
        : []),
      {
        key: 'theme',
        icon: isDark ? 'sun' : 'moon',
        text: isDark ? 'Switch to light theme' : 'Switch to dark theme',
        run: () => toggleTheme(isDark),
      },
      { key: 'shortcuts', icon: 'info', text: 'Show keyboard shortcuts', keys: ['?'], run: onShortcuts },
    ];
    const groups = [
      { title: 'Plants', items: found },
      { title: 'Actions', items: actions.filter((item) => item.key === 'add' || matches(item)) },
      { title: 'Go to', items: pages.filter(matches) },
    ];
    return groups.filter(({ items }) => items.length > 0);
  }, [text, found, isDark]);
}

/** The plant with the id in the text comes first, then those whose names match. */
function usePlants(text: string): Item[] {
  const { client, can } = useWorkspace();
  const wanted = useDelayed(text);
  const { data } = useQuery({
    queryKey: ['palette', wanted],
    queryFn: async ({ signal }) => {
      const id = toId(wanted);
      const [named, exact] = await Promise.all([
        client.list({ q: wanted, limit: PLANTS, count: true }, { signal }),
        id === undefined
          ? undefined
          : client.get(id, { signal }).then(
              ({ record }) => record,
              () => undefined,
            ),
      ]);
      return { named, exact };
    },
    enabled: wanted !== '' && can('plants:read'),
    placeholderData: (last) => last,
    gcTime: 0,
  });
  return useMemo(() => {
    if (text === '' || !data) return [];
    const { named, exact } = data;
    const records = [...(exact ? [exact] : []), ...named.records.filter(({ id }) => id !== exact?.id)];
    const more = named.total && named.total.plants > named.records.length ? named.total : undefined;
    return [
      ...records.map((record) => toItem(record, text)),
      ...(more
        ? [
            {
              key: 'all',
              icon: 'search',
              text: `Show all plants matching “${text}”`,
              sub: `${more.isMore ? 'more than ' : ''}${number(more.plants)}`,
              run: () => openView('plants', { q: text }),
            },
          ]
        : []),
    ];
  }, [data, text]);
}

function toItem(record: PlantRecord, found: string): Item {
  const { id, tag } = record;
  return {
    key: `plant ${id}`,
    icon: 'plants',
    text: nameOf(record),
    found,
    id,
    sub: tag === undefined ? undefined : tagText(tag),
    run: () => openView('plants', { id: String(id) }),
  };
}

/** Marks the beginnings of words that the search has found. */
function marked(text: string, found: string): ComponentChildren[] {
  const starts = found.split(/\s+/).map(plain).filter(Boolean);
  return text.split(/([\p{L}\p{N}]+)/u).map((word) => {
    const start = starts.find((one) => plain(word).startsWith(one));
    if (start === undefined) return word;
    return (
      <>
        <mark>{word.slice(0, start.length)}</mark>
        {word.slice(start.length)}
      </>
    );
  });
}

/** Returns the text without accents and capitals, which do not matter in a search. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

function useDelayed(text: string): string {
  const [delayed, setDelayed] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return delayed;
}

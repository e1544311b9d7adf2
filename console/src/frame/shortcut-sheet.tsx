// The list of shortcuts, and the switch for those of single letters.

import { Dialog } from '../shared/dialog.tsx';
import { Keys } from '../shared/icon.tsx';
import { Scrolling } from '../shared/scrolling.tsx';
import { setLetterShortcuts, useLetterShortcuts } from './settings.ts';

const GROUPS: { title: string; rows: [string, string[]][] }[] = [
  {
    title: 'Anywhere',
    rows: [
      ['Search or jump', ['Ctrl', 'K']],
      ['This list', ['?']],
      ['Go to Plants, Dashboard, Activity', ['G', 'then', 'P', 'D', 'A']],
      ['Go to Tokens, Webhooks, Import', ['G', 'then', 'T', 'W', 'I']],
      ['Undo the last change', ['Ctrl', 'Z']],
      ['Close, or step back', ['Esc']],
    ],
  },
  {
    title: 'One plant',
    rows: [
      ['Edit', ['E']],
      ['Set tag', ['T']],
      ['Copy id', ['C']],
      ['Save', ['Ctrl', '↵']],
      ['Delete', ['Del']],
    ],
  },
  {
    title: 'List of plants',
    rows: [
      ['Search', ['/']],
      ['Filter', ['F']],
      ['Next, previous', ['↓', '↑', 'or', 'J', 'K']],
      ['First, last', ['Home', 'End']],
      ['Open', ['↵']],
      ['Select', ['X']],
      ['Select a range', ['Shift', '↓']],
      ['Select all', ['Ctrl', 'A']],
      ['Add plant', ['N']],
    ],
  },
];

const WORDS = ['then', 'or'];

export function ShortcutSheet({ onClose }: { onClose(): void }) {
  const hasLetters = useLetterShortcuts();
  return (
    <Dialog title="Keyboard shortcuts" size="wide" onClose={onClose}>
      <Scrolling class="keys-grid" label="Shortcuts">
        {GROUPS.map(({ title, rows }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl class="keys">
              {rows.map(([what, keys]) => (
                <div key={what}>
                  <dt>{what}</dt>
                  <dd>{keys.map((key) => (WORDS.includes(key) ? ` ${key} ` : <Keys key={key} of={[key]} />))}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </Scrolling>
      <footer class="dialog-foot">
        <label class="check">
          <input
            type="checkbox"
            checked={hasLetters}
            onChange={(event) => setLetterShortcuts(event.currentTarget.checked)}
          />
          Shortcuts of single letters
        </label>
      </footer>
    </Dialog>
  );
}

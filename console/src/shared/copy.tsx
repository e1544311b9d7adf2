// Buttons that copy a text, and blocks of code with such a button.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useTell } from '../frame/notices.tsx';
import { Icon } from './icon.tsx';

const SHOWN_MS = 1500;

export function CopyButton({ text, label, children }: { text: string; label: string; children?: ComponentChildren }) {
  const [isDone, setDone] = useState(false);
  const copy = useCopy();
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isDone]);
  return (
    <button
      type="button"
      class={`btn s ${children ? '' : 'icon quiet'} ${isDone ? 'done' : ''}`}
      aria-label={children ? undefined : isDone ? 'Copied' : label}
      title={label}
      onClick={() => void copy(text).then(setDone)}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
      {children}
    </button>
  );
}

/** Returns a function that copies a text and shows `message`, or why the browser refused. It returns true on success. */
export function useCopy(): (text: string, message?: string) => Promise<boolean> {
  const tell = useTell();
  return async (text, message) => {
    try {
      await copyText(text);
      if (message) tell(message);
      return true;
    } catch {
      tell('The browser does not let this page copy. Select the text and press Ctrl C.', { isProblem: true });
      return false;
    }
  };
}

/** Copies a text. Throws if the browser refuses. Pages without TLS have no clipboard, but the event of a copy has. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  let isCopied = false;
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isCopied = true;
  };
  addEventListener('copy', fill, { capture: true });
  document.execCommand('copy');
  removeEventListener('copy', fill, { capture: true });
  if (!isCopied) throw new Error('The browser does not let this page copy.');
}

/** Code with a button that copies it. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div class="code">
      <pre>
        <code>{highlight(text)}</code>
      </pre>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  );
}

const PARTS =
  /("[^"\n]*"|'[^'\n]*')|(^(?:curl|plant-store|npm|import|const|await)\b)|((?<=\s)--?[a-zA-Z][\w-]*)|(?<=": )-?\d+/gm;

/** Marks strings, commands, options and numbers. */
function highlight(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const match of text.matchAll(PARTS)) {
    const kind = match[1] ? 's' : match[2] ? 'k' : match[3] ? 'p' : 'n';
    parts.push(text.slice(end, match.index), <i class={kind}>{match[0]}</i>);
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

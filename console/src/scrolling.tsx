// A scrollable part of the page that also works with the keyboard.

import type { ComponentChildren } from 'preact';

export function Scrolling(props: { class: string; label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls only the focused element
    <section class={props.class} aria-label={props.label} tabIndex={0}>
      {props.children}
    </section>
  );
}

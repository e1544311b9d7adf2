// A region that scrolls by itself. It can have the focus, so that the keyboard can scroll it.

import type { ComponentChildren } from 'preact';

export function Scrolling(props: { class: string; label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be able to have the focus
    <section class={props.class} aria-label={props.label} tabIndex={0}>
      {props.children}
    </section>
  );
}

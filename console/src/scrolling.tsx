// A part of the page that scrolls by itself, also for who has only keys.

import type { ComponentChildren } from 'preact';

export function Scrolling(props: { class: string; label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll only what has the focus
    <section class={props.class} aria-label={props.label} tabIndex={0}>
      {props.children}
    </section>
  );
}

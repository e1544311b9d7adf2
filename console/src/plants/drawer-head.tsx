// The head of the drawer: the place in the list, previous and next, the link, a menu and Close.

import type { ComponentChildren } from 'preact';
import { useCopy } from '../shared/copy.tsx';
import { Icon } from '../shared/icon.tsx';

export function DrawerHead(props: {
  place: string | undefined;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
  onClose(): void;
  children: ComponentChildren;
}) {
  const { place, onPrevious, onNext, onClose, children } = props;
  const copy = useCopy();
  return (
    <header class="drawer-head">
      <button type="button" class="btn icon quiet back" aria-label="Back to the list" onClick={onClose}>
        <Icon name="chevL" />
      </button>
      <span class="pos">{place}</span>
      <div class="grow" />
      <button
        type="button"
        class="btn icon quiet"
        aria-label="Previous plant"
        title="Previous (↑ or K)"
        disabled={!onPrevious}
        onClick={onPrevious}
      >
        <Icon name="chevU" />
      </button>
      <button
        type="button"
        class="btn icon quiet"
        aria-label="Next plant"
        title="Next (↓ or J)"
        disabled={!onNext}
        onClick={onNext}
      >
        <Icon name="chevD" />
      </button>
      <i class="vr" />
      <button
        type="button"
        class="btn icon quiet"
        aria-label="Copy link"
        title="Copy link"
        onClick={() => void copy(location.href, 'Copied the link')}
      >
        <Icon name="link" />
      </button>
      {children}
      <button type="button" class="btn icon quiet close" aria-label="Close" title="Close (Esc)" onClick={onClose}>
        <Icon name="x" />
      </button>
    </header>
  );
}

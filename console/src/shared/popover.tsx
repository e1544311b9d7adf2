// Popovers and menus beside their button. On a phone they come from below.

import { Menu as BaseMenu } from '@base-ui/react/menu';
import { Popover as Base } from '@base-ui/react/popover';
import type { ComponentChildren } from 'preact';
import { FLOATING_PLACE } from './floating-place.ts';
import { Icon } from './icon.tsx';

const GAP_PX = 6;

export function Popover(props: {
  label: string;
  /** Class and content of the button. */
  buttonClass: string;
  button: ComponentChildren;
  gapPx?: number;
  isOpen?: boolean;
  onOpenChange?(isOpen: boolean): void;
  children: ComponentChildren;
}) {
  const { label, buttonClass, button, gapPx = GAP_PX, isOpen, onOpenChange, children } = props;
  return (
    <Base.Root {...(isOpen !== undefined && { open: isOpen })} {...(onOpenChange && { onOpenChange })}>
      <Base.Trigger className={buttonClass}>{button}</Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="floating" sideOffset={gapPx} align="end" collisionPadding={8}>
          <Base.Popup className="pop" aria-label={label}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export interface MenuItem {
  icon: string;
  text: string;
  isDanger?: boolean;
  onClick(): void;
}

/** A button with three dots that opens a menu. */
export function Menu({ label, items }: { label: string; items: MenuItem[] }) {
  return (
    <BaseMenu.Root>
      <BaseMenu.Trigger className="btn icon quiet" aria-label={label} title={label}>
        <Icon name="dots" />
      </BaseMenu.Trigger>
      <BaseMenu.Portal container={FLOATING_PLACE}>
        <BaseMenu.Positioner
          className="floating"
          positionMethod="fixed"
          sideOffset={GAP_PX}
          align="end"
          collisionPadding={8}
        >
          <BaseMenu.Popup className="pop menu" aria-label={label}>
            <div class="opts">
              {items.map(({ icon, text, isDanger, onClick }) => (
                <BaseMenu.Item key={text} className={isDanger ? 'opt danger' : 'opt'} onClick={onClick}>
                  <Icon name={icon} />
                  {text}
                </BaseMenu.Item>
              ))}
            </div>
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

// Dialogs and side sheets. Base UI traps the focus, closes on Escape and on a click outside, and returns the focus.

import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog as Base } from '@base-ui/react/dialog';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface Props {
  title: string;
  icon?: string | undefined;
  size?: 'mid' | 'wide' | undefined;
  /** Called on Escape, on Close and on a click outside. */
  onClose(): void;
  children: ComponentChildren;
}

/** A dialog. Its children are `.dialog-body` and `.dialog-foot`, or a form with them. */
export function Dialog({ title, icon, size, onClose, children }: Props) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open onOpenChange={(isOpen) => isOpen || onClose()}>
      <Base.Portal>
        <Base.Viewport className="scrim">
          <Base.Popup
            ref={popup}
            className={size ? `dialog ${size}` : 'dialog'}
            initialFocus={() => firstField(popup.current)}
          >
            <header class="dialog-head">
              <Base.Title>
                {icon && <Icon name={icon} />}
                {title}
              </Base.Title>
              <Base.Close className="btn icon quiet" aria-label="Close">
                <Icon name="x" />
              </Base.Close>
            </header>
            {children}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

/** Returns the element that gets the focus, or true for the first button. */
function firstField(popup: HTMLElement | null): HTMLElement | true {
  return (
    popup?.querySelector<HTMLElement>(
      '[data-first-focus], .dialog-body :is(input, textarea, select), .dialog-foot .btn',
    ) ?? true
  );
}

/** A dialog that asks before something is deleted. A click outside does not close it. */
export function Confirm(props: {
  title: string;
  action: ComponentChildren;
  isBusy?: boolean;
  onConfirm(): void;
  onClose(): void;
  children: ComponentChildren;
}) {
  const { title, action, isBusy = false, onConfirm, onClose, children } = props;
  return (
    <AlertDialog.Root open onOpenChange={(isOpen) => isOpen || onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Viewport className="scrim">
          <AlertDialog.Popup className="dialog">
            <header class="dialog-head">
              <AlertDialog.Title>{title}</AlertDialog.Title>
            </header>
            <div class="dialog-body">{children}</div>
            <footer class="dialog-foot">
              <div class="grow" />
              <AlertDialog.Close className="btn">Cancel</AlertDialog.Close>
              <button type="button" class="btn danger-solid" disabled={isBusy} onClick={onConfirm}>
                {action}
              </button>
            </footer>
          </AlertDialog.Popup>
        </AlertDialog.Viewport>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

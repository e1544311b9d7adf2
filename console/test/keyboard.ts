// Walks through a page with the Tab key: every control gets the focus, and the focus can be seen.

import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { settled, shown } from './window.ts';

const MAX_STOPS = 300;

/**
 * Fails unless Tab reaches every visible control of the page or of the open dialog, in sight and with an outline. In a
 * list, a menu or a group of choices Tab reaches one control, and the arrow keys the others.
 */
export async function requireKeyboard(page: Page, what: string): Promise<void> {
  await settled(page);
  await page.evaluate(prepareWalk);
  for (let stops = 0; stops < MAX_STOPS; stops++) {
    await page.keyboard.press('Tab');
    let stop = await page.evaluate(noteFocus);
    if (stop === 'none') {
      await shown(page); // At its end, a dialog moves the focus to its first control in a later task.
      stop = await page.evaluate(noteFocus);
    }
    if (stop === 'again') break;
  }
  assert.deepEqual(await page.evaluate(endWalk), [], what);
}

/** What the functions below share in the page. */
interface Walk {
  reached: Set<Element>;
  faults: string[];
}
declare global {
  interface Window {
    walk: Walk;
  }
}

function prepareWalk(): void {
  window.walk = { reached: new Set(), faults: [] };
}

/** Checks the control that has the focus. Returns `none` at the end of the page or of a dialog. */
function noteFocus(): 'new' | 'again' | 'none' {
  const { reached, faults } = window.walk;
  const element = document.activeElement as HTMLElement;
  if (element === document.body || element.matches('[data-base-ui-focus-guard]')) return 'none';
  if (reached.has(element)) return 'again';
  reached.add(element);
  if (!hasOutline()) faults.push(`no visible focus: ${element.outerHTML.slice(0, 100)}`);
  if (!isInSight()) faults.push(`the focus is out of sight: ${element.outerHTML.slice(0, 100)}`);
  return 'new';

  /** The outline may be around a box in which the control is, or around what is drawn in its place. */
  function hasOutline(): boolean {
    const boxes = [element, element.nextElementSibling, element.parentElement, element.parentElement?.parentElement];
    return boxes.some((box) => {
      if (!box) return false;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(box);
      const hasShadow = box.matches(':focus-within') && /inset 0px -2px|-2px 0px 0px inset/.test(boxShadow);
      return (outlineStyle === 'solid' && Number.parseFloat(outlineWidth) >= 2) || hasShadow;
    });
  }

  function isInSight(): boolean {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const [x, y] = [
      (Math.max(left, 0) + Math.min(right, innerWidth)) / 2,
      (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2,
    ];
    const hit = document.elementFromPoint(x, y);
    return (
      hit !== null &&
      (element.contains(hit) || hit.contains(element) || hit.closest('label') === element.closest('label'))
    );
  }
}

/** Returns the faults of the walk, with the controls that it did not reach. */
function endWalk(): string[] {
  const { reached, faults } = window.walk;
  const GROUPS = '[role=rowgroup], [role=listbox], [role=menu], [role=radiogroup], [role=tablist], section.scroller';
  const dialogs = [...document.querySelectorAll<HTMLElement>('[role=dialog], [role=alertdialog], [role=menu]')];
  const area = dialogs.findLast((dialog) => dialog.checkVisibility()) ?? document.body;
  const controls = area.querySelectorAll<HTMLElement>(
    'a[href], button, input, select, textarea, summary, [tabindex="0"], [role=option], [role^=menuitem]',
  );
  const missed = [...controls].filter(
    (control) => isShown(control) && !reached.has(control) && !isInReachedGroup(control),
  );
  return [...faults, ...missed.map((control) => `not reached: ${control.outerHTML.slice(0, 100)}`)].slice(0, 5);

  function isShown(control: HTMLElement): boolean {
    if (control.matches(':disabled, [type=hidden], [data-base-ui-focus-guard]')) return false;
    if (control.closest('[inert], [aria-hidden=true]')) return false;
    return control.checkVisibility({ visibilityProperty: true }) && control.getBoundingClientRect().width > 0;
  }

  /** True if the arrow keys reach the control from one that Tab reached. */
  function isInReachedGroup(control: HTMLElement): boolean {
    if (control instanceof HTMLInputElement && control.type === 'radio') {
      return [...reached].some((other) => other instanceof HTMLInputElement && other.name === control.name);
    }
    const group = control.closest(GROUPS);
    if (!group || control.tabIndex >= 0) return false;
    return [...reached].some((other) => group.contains(other) || other.getAttribute('aria-controls') === group.id);
  }
}

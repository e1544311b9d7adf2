// Where menus and lists of suggestions are rendered: in the open dialog or in the main landmark. Screen readers can then
// tell where they belong, and a modal dialog does not hide them.

export const FLOATING_PLACE = {
  get current(): HTMLElement | null {
    return [...document.querySelectorAll<HTMLElement>('main, .dialog')].at(-1) ?? null;
  },
};
